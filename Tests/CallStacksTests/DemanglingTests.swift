import CCallStacks
import Testing

@Suite("Names of symbols")
struct DemanglingTests {
  @Test(
    "A symbol is shown as its language writes it, without what the compiler has added",
    arguments: [
      ("remember", "remember"),
      ("remember.constprop.0.isra.0", "remember"),
      ("remember.part.0.cold", "remember"),
      ("malloc@@GLIBC_2.2.5", "malloc"),
      ("main.(*Cart).Add", "main.(*Cart).Add"),
      ("main.main.func1", "main.main.func1"),
      ("_ZN4shop4CartIiE3addEi", "shop::Cart<int>::add(int)"),
      ("_ZN4shop4CartIiE3addEi.cold", "shop::Cart<int>::add(int)"),
      ("_ZN1r4shop13Cart$LT$T$GT$3add17h0123456789abcdefE", "r::shop::Cart<T>::add"),
      ("_ZN33_$LT$r..Cart$u20$as$u20$r..Go$GT$2go17h0123456789abcdefE", "<r::Cart as r::Go>::go"),
      ("_RNvNtCsjrHSEGnQ3l9_3std2rt19lang_start_internal", "std::rt::lang_start_internal"),
      ("_RNCNCNvNtCs1_3std2rt3run0s_0B5_", "std::rt::run::{closure#0}::{closure#1}"),
      ("_RINvMCs1_4shopINtB3_4CartlKj10_E3addRShEB3_", "<shop::Cart<i32, 16>>::add::<&[u8]>"),
      ("_RNvXCs1_4shopNtB2_4CartNtCs2_4core3Fmt3fmt.llvm.123", "<shop::Cart as core::Fmt>::fmt"),
      ("$s4shop4CartC3addyySiF", "shop.Cart.add(Swift.Int) -> ()"),
      ("_ZN17h0123456789abcdefE", "h0123456789abcdef"),
      ("_Z", "_Z"),
      ("", ""),
    ])
  func demangled(symbol: String, name: String) {
    #expect(String(cString: hw_demangle(symbol)) == name)
  }

  @Test("Equal names are one text")
  func same() {
    #expect(hw_demangle("remember.cold") == hw_demangle("remember"))
  }
}

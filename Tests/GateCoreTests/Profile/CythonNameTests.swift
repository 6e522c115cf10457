import Testing

@testable import GateCore

@Suite("Names of Cython")
struct CythonNameTests {
  @Test(
    "A function has the name of the source, without the module in whose file it is",
    arguments: [
      ("__pyx_pw_10selectolax_6lexbor_6Parser_1__init__", "selectolax/lexbor.so", "Parser.__init__"),
      ("__pyx_pf_7msgpack_9_cmsgpack_2unpackb", "msgpack/_cmsgpack.so", "unpackb"),
      ("__pyx_f_7msgpack_9_cmsgpack_6Packer__pack", "msgpack/_cmsgpack.so", "Packer._pack"),
      ("__pyx_pw_7msgpack_9_cmsgpack_12load", "other.so", "msgpack._cmsgpack.load"),
      ("__pyx_pw_99x_1y", "x.so", "__pyx_pw_99x_1y"), ("__pyx_pymod_exec_lexbor", "x.so", "__pyx_pymod_exec_lexbor"),
      ("__pyx_f_", "x.so", "__pyx_f_"), ("remember", "server", "remember"),
    ])
  func plain(symbol: String, module: String, name: String) {
    #expect(CythonName.plain(symbol, in: module) == name)
  }

  @Test("The name of a function has it")
  func function() {
    let call = CallTree.Function(
      module: "/x/site-packages/msgpack/_cmsgpack.cpython-311-x86_64-linux-gnu.so",
      name: "__pyx_pw_7msgpack_9_cmsgpack_6Packer_5pack")
    #expect(FunctionName(call).description == "msgpack/_cmsgpack.so!Packer.pack")
  }
}

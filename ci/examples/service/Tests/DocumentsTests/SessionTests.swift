import LeakAssertions
import MemoryMarkers
import Testing

@testable import Documents

@Suite("Sessions")
struct SessionTests {
  @Test("A session is deallocated when it is released")
  func fresh() {
    expectNoLeak { makeService().begin(Request("GET", "/documents/1")) }
  }

  @Test("A session is deallocated after its response")
  func answered() async {
    await expectNoLeak {
      let session = makeService().begin(Request("GET", "/documents/1"))
      _ = await session.run()
      return session
    }
  }

  @Test("A change that fails is rolled back")
  func failing() async {
    let service = makeService()
    let failed = await service.begin(Request("PUT", "/documents/1")).run()
    let page = await service.begin(Request("GET", "/documents/1")).run()
    #expect(failed.status == "400 Bad Request")
    #expect(page.body == "<article id=\"1\">one&nbsp;document</article>\n")
  }
}

/// A service with one document.
func makeService() -> DocumentService {
  let store = DocumentStore(hunter: LoopHunter(turn: TaskTurn()) { _ in })
  store.put("one document", at: 1)
  store.commit()
  return DocumentService(store)
}

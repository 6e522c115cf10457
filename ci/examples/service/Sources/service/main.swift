import Documents
import Glibc
import MemoryMarkers

guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]) else {
  print("usage: service PORT < DOCUMENTS")
  exit(2)
}

// What follows belongs to the phase `load`, which the gate can hold to figures of its own.
Marks.phase("load")

// How did the run before end? After a SIGTERM as below the answer is `requested`; after a kill for memory, that.
let launch = LaunchReason(appVersion: "1.0.0")
print("started: \(launch.startup)")

// A hundred changes of the store for one request (see `Session.run`) are a loop. Under the gate the run fails.
let hunter = LoopHunter(turn: TaskTurn(), notify: .onceEver) { loop in
  print("loop: \(loop.typeName).\(loop.name) was called \(loop.count) times for one request")
}
let store = DocumentStore(hunter: hunter)
var count = 0
while let line = readLine() {
  count += 1
  store.put(line, at: count)
}
store.commit()

let service = DocumentService(store)
guard let listener = Listener(port: port) else {
  perror("service: port \(port)")
  exit(1)
}
// Our own handler first: the library's marks the request in the record, then calls ours.
listener.endsOnTermination()
launch.installSignalHandlers()

Marks.phase("serve")
launch.set(.idle)
while let connection = listener.next() {
  // A kill for memory while there is work is another matter than one of an idle service.
  launch.set(.active)
  if let request = connection.request() {
    connection.send(await service.begin(request).run())
  }
  launch.set(.idle)
}

Marks.phase("drain")
launch.set(.stopping)

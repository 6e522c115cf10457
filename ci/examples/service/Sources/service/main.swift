import Documents
import Glibc
import MemoryMarkers

guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]) else {
  print("usage: service PORT < DOCUMENTS")
  exit(2)
}

// Starts the phase `load`, for which the project file can set its own limits.
Marks.phase("load")

// How did the previous run end? After a SIGTERM as below the reason is `requested`; after an OOM kill, `outOfMemory`.
let launch = LaunchReason(appVersion: "1.0.0")
print("started: \(launch.startup)")

// A hundred changes of the store in one request (see `Session.run`) are a loop. Under Highwater the run fails.
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
// Our own handler first: the library's handler marks the signal in the record, and then calls ours.
listener.stopOnTermination()
launch.installSignalHandlers()

Marks.phase("serve")
launch.set(.idle)
while let connection = listener.next() {
  // An OOM kill during a request is worse than one of an idle service.
  launch.set(.active)
  if let request = connection.request() {
    connection.send(await service.begin(request).run())
  }
  launch.set(.idle)
}

Marks.phase("drain")
launch.set(.stopping)

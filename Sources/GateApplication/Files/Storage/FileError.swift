package import GateCore
import Glibc
import LinuxSystem

/// Why a file could not be read, parsed or written.
package struct FileError: DiagnosticError, Sendable, Equatable {
  /// The kind of error, to switch on.
  package enum Code: String, Sendable, CaseIterable {
    case notFound, unreadable, notAFile, tooLarge, malformed, wrongSchema, notWritable, noSpace, locked
  }

  package let code: Code
  package let path: String
  /// The position in the file, as `line:column`, if known.
  let position: String?
  package let problem: String
  package let hint: String?
  /// What a baseline file has become, if a merge or an editor made it unusable.
  var defect: BaselineDefect?

  package init(code: Code, path: String, position: String? = nil, problem: String, hint: String? = nil) {
    self.code = code
    self.path = path
    self.position = position
    self.problem = problem
    self.hint = hint
  }

  package var diagnostics: [Diagnostic] {
    let place = position.map { "\(path):\($0)" } ?? path
    return [Diagnostic(place: place, problem: problem, hint: hint)]
  }
}

extension ErrorNumber {
  /// The error of reading a file.
  func whileReading(_ path: String) -> FileError {
    switch code {
    case ENOENT:
      FileError(code: .notFound, path: path, problem: "no such file")
    case ENOTDIR:
      FileError(code: .notFound, path: path, problem: "no such file: a part of the path is not a folder")
    case EACCES, EPERM:
      FileError(
        code: .unreadable, path: path, problem: "cannot be read: permission denied",
        hint: "check its owner and mode"
      )
    case EISDIR:
      FileError(code: .notAFile, path: path, problem: "is a folder, not a file", hint: "name a file in it")
    case ENXIO, ENODEV:
      FileError(
        code: .notAFile, path: path, problem: "is not a regular file", hint: "name a file, not a pipe or a device")
    default:
      FileError(code: .unreadable, path: path, problem: "cannot be read: \(text)")
    }
  }

  /// The error of writing a file or folder.
  func whileWriting(_ path: String) -> FileError {
    switch code {
    case ENOSPC, EDQUOT:
      FileError(
        code: .noSpace, path: path, problem: "cannot be written: \(text)",
        hint: "free some space, or choose a folder on another disk"
      )
    case EROFS, EACCES, EPERM, ENOENT:
      FileError(
        code: .notWritable, path: path, problem: "cannot be written: \(text)",
        hint: "choose a folder that this user may write to"
      )
    case ENOTDIR, EEXIST:
      FileError(
        code: .notWritable, path: path, problem: "cannot be written: a part of the path is not a folder",
        hint: "move the file at this path, or choose another path"
      )
    default:
      FileError(code: .notWritable, path: path, problem: "cannot be written: \(text)")
    }
  }
}

import Glibc

/// The number that a system call left in `errno`.
struct SystemError: Error, Equatable {
  let number: Int32

  /// The trouble of the call that has just failed.
  static var last: SystemError { SystemError(number: errno) }

  /// The C library's words, as they stand within a sentence.
  private var words: String {
    guard let text = strerror(number) else { return "error \(number)" }
    let sentence = String(cString: text)
    // `Is a directory` becomes `is a directory`, and `I/O error` stays.
    guard let second = sentence.dropFirst().first, second.isLowercase else { return sentence }
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }

  /// The error of a file that was to be read.
  func whileReading(_ path: String) -> FileError {
    switch number {
    case ENOENT:
      FileError(code: .notFound, path: path, problem: "no such file")
    case ENOTDIR:
      FileError(code: .notFound, path: path, problem: "no such file: a part of the path is not a folder")
    case EACCES, EPERM:
      FileError(
        code: .unreadable, path: path, problem: "cannot be read: permission denied",
        hint: "check its owner and mode"
      )
    case ENXIO, ENODEV:
      Self.notRegular(path)
    default:
      FileError(code: .unreadable, path: path, problem: "cannot be read: \(words)")
    }
  }

  /// The error of a file or folder that was to be written.
  func whileWriting(_ path: String) -> FileError {
    switch number {
    case ENOSPC, EDQUOT:
      FileError(
        code: .noSpace, path: path, problem: "cannot be written: \(words)",
        hint: "free some space, or choose a folder on another disk"
      )
    case EROFS, EACCES, EPERM, ENOENT:
      FileError(
        code: .notWritable, path: path, problem: "cannot be written: \(words)",
        hint: "choose a folder that this user may write to"
      )
    case ENOTDIR, EEXIST:
      FileError(
        code: .notWritable, path: path, problem: "cannot be written: a part of the path is not a folder",
        hint: "move the file that is in the way, or choose another path"
      )
    default:
      FileError(code: .notWritable, path: path, problem: "cannot be written: \(words)")
    }
  }

  static func notRegular(_ path: String) -> FileError {
    FileError(
      code: .notAFile, path: path, problem: "is not a regular file",
      hint: "name a file, not a folder, a pipe or a device"
    )
  }
}

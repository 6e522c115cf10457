/// One line that a target sends to the gate.
package enum MarkerMessage: Equatable {
  case phase(String), mark(String), iteration
}

import GateCore

/// What a machine permits as JSON (`highwater.doctor/1`), for other programs; not read by this one.
enum DoctorFile {
  /// The name, the value and the hint of a property.
  typealias Words = (name: String, value: String, hint: String?)

  static func encode(
    _ properties: [MachineProperty],
    canMeasure: Bool,
    words: (MachineProperty) -> Words
  ) -> [UInt8] {
    let method = properties.lazy.compactMap { if case .method(let method) = $0.value { method } else { nil } }.first
    let noise = properties.lazy.compactMap { if case .noise(let noise) = $0.value { noise } else { nil } }.first
    let document = DoctorDocument(
      canMeasure: canMeasure, method: method, noise: noise.map(MachineNoise.init),
      properties: properties.map { Property($0, words($0)) })
    return JSON.encode(WithSchema(schema: .doctor, content: document), .pretty)
  }
}

private struct DoctorDocument: Encodable {
  let tool = Tool.fields
  let canMeasure: Bool
  let method: MeasurementMethod?
  let noise: MachineNoise?
  let properties: [Property]
}

private struct Property: Encodable {
  let name: String
  let status: MachineProperty.Status
  let value: String
  let hint: String?

  init(_ property: MachineProperty, _ words: DoctorFile.Words) {
    (name, status) = (words.name, property.status)
    (value, hint) = (words.value, words.hint)
  }
}

private struct MachineNoise: Encodable {
  let peaks: [Int64]
  let durationsSeconds: [Double]

  init(_ noise: ProbeNoise) {
    peaks = noise.peaks.map(\.count)
    durationsSeconds = noise.durations.map(\.inSeconds)
  }
}

import Testing

/// Reported values.
extension TrendPageTests {
  @Test(
    "A reported value has its unit on the axis, under the pointer, in the panel and in the table",
    arguments: [("value.cache.entries", "\u{a0}items", "\u{a0}items"), ("value.queue.wait", "\u{a0}ms", "\u{a0}ms")]
  )
  func reportedValue(metric: String, axis: String, value: String) async throws {
    try await visit("scenario=redis-expire&metric=\(metric)") { (browser: Browser) async throws -> Void in
      let chart = ".series:not(.closed) figure[data-metric='\(metric)']"
      try await browser.hover(browser.place(in: "\(chart) .plot", x: 0.5))
      try await browser.settle()
      let labels: [String] = try await browser.evaluate(
        "return [...document.querySelectorAll(arguments[0])].map(label => label.textContent)",
        .text("\(chart) .dygraph-axis-label-y"))
      #expect(labels.count > 1)
      #expect(labels.filter { !$0.hasSuffix(axis) } == [])
      #expect(Set(labels).count == labels.count)

      let reported: String = try await browser.evaluate(
        "return document.querySelector(arguments[0]).ariaValueText", .text("\(chart) .plot"))
      let cells: [String] = try await browser.evaluate(
        """
        const row = [...document.querySelectorAll(".series:not(.closed) .readout tr")]
          .find(row => row.querySelector("th").textContent === arguments[0]);
        return [...row.querySelectorAll("td")].map(cell => cell.textContent);
        """, .text(metric))
      try await browser.click("\(chart) summary")
      let row = "return document.querySelector(arguments[0])?.textContent ?? ''"
      try await browser.wait(for: "return document.querySelectorAll(\"\(chart) details tbody tr\").length === 60")
      let values: String = try await browser.evaluate(row, .text("\(chart) details tbody tr"))
      let picture: String = try await browser.evaluate(row, .text("\(chart) .picture svg"))
      #expect(reported.contains(value) && cells.first?.hasSuffix(value) == true, "\(reported) \(cells)")
      #expect(reported.contains("\(metric) \(cells.first ?? "?"), "))
      for text in [reported, values, picture] + cells {
        #expect(!text.contains(/[0-9]\u{a0}([KMG]i)?B/), "\(text)")
      }
      #expect(values.contains(value) && picture.contains(axis))
    }
  }
}

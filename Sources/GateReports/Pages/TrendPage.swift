package import GateCore
package enum TrendPage { package static func text(_ trend: Trend) -> String { "\(trend.courses.count)" } }

import GateCore
import Testing

@Suite("States of scenarios over runs")
struct ScenarioStateTests {
  @Test(
    "A verdict is compared with the last decided verdict",
    arguments: [
      (.pass, [], .ok), (.regression, [], .new), (.failed, [.pass], .new), (.failed, [.regression], .still),
      (.improved, [.failed], .recovered), (.pass, [.pass], .ok), (.inconclusive, [.regression], .still),
      (.noBaseline, [.pass], .ok), (.skipped, [], .ok), (.pass, [.inconclusive], .ok),
      (.pass, [.regression, .inconclusive], .recovered), (.regression, [.failed, .noBaseline, .skipped], .still),
      (.regression, [.failed, .pass, .inconclusive], .new), (.inconclusive, [.pass, .failed, .skipped], .still),
    ] as [(Verdict, [Verdict], ScenarioState)]
  )
  func transition(current: Verdict, earlier: [Verdict], state: ScenarioState) {
    #expect(ScenarioState(current, after: earlier) == state)
    if earlier.count < 2 { #expect(ScenarioState(current, after: earlier.first) == state) }
  }

  @Test(
    "A webhook is sent for the runs of its occasion",
    arguments: [
      (.always, .pass, [], true), (.failure, .pass, [.recovered], false), (.failure, .inconclusive, [.ok], true),
      (.failure, .terminated, [], true), (.change, .regression, [.still, .ok], false),
      (.change, .regression, [.ok, .new], true), (.change, .pass, [.recovered], true), (.change, .failed, [], false),
    ] as [(Webhook.Occasion, ExitCode, [ScenarioState], Bool)]
  )
  func occasion(occasion: Webhook.Occasion, exitCode: ExitCode, states: [ScenarioState], isSent: Bool) {
    #expect(occasion.shouldNotify(exitCode: exitCode, states: states, hasNews: false) == isSent)
    #expect(occasion.shouldNotify(exitCode: exitCode, states: states, hasNews: true) == (isSent || occasion == .change))
  }
}

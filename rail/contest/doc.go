// Package contest judges railway policies.
//
// [Play] runs a [agent.Policy] in an environment and records a trajectory. [Verify] checks one: it runs our own copy of
// the environment again with the recorded actions, and nothing else of what was recorded, and compares everything else with
// what comes out: a [Report] with the first [Difference], and with [Figures] that follow from the actions alone. A
// [Competition], read from its file, says which scenarios make a submission and by which rules [Competition.Score] adds
// them up. [Competition.Run] plays a policy in a suite of such scenarios, and [Competition.Appraise] says what it came to.
//
// Start with Verify:
//
//	report, err := contest.Verify(ctx, env, trajectory, contest.Options{Episode: "level_0_scenario_1", Rewards: &rewards})
//
// Nothing that a team recorded is ever part of a figure. The package does not read environments (rail/railfile) and does
// not run a team's code.
package contest

// Package checkpoint flies trained policies without Python. A [Policy] is a Stable-Baselines3 policy.zip read as a
// network; its [Policy.Agent] answers observations as Stable-Baselines3 would.
//
//	policy, err := checkpoint.Open("policy.zip")
//	var unsupported *checkpoint.UnsupportedError
//	if errors.As(err, &unsupported) {
//		// a good file of another kind: run it with Stable-Baselines3
//	}
//	pilot, err := policy.Agent(flight.DefaultConfig())
//
// Start with [Open]. Two shapes are read: MlpPolicy of PPO, A2C, MaskablePPO and DQN over a flat observation, and the
// challenge's AutoregressivePolicy. Whatever else Stable-Baselines3 can save is an [UnsupportedError] that says why;
// a file that it could not fly either, or that is built to harm, is an [InvalidError].
//
// A policy.zip is not trusted. Nothing of it is executed: the weights' pickle is read by [skyrail/internal/pyvalue],
// which looks no name up and takes memory by the bytes that are there, and may name what torch writes for tensors and
// nothing else. The pickles in the JSON file "data" are not read at all, only the plain text that Stable-Baselines3
// puts beside them: whoever makes the two say different things gets another policy here than there.
//
// Arithmetic follows float32 inference: every layer's output is rounded to float32, as every tensor there is.
// Within a layer sums are float64, more exact than any order of float32 sums. So the answers of different builds of
// torch scatter around ours in the last bit, and the deterministic action is theirs unless two actions are equally
// good to seven digits. Every platform gives the same bits.
//
// The package does not apply VecNormalize statistics, does not train and does not write checkpoints.
package checkpoint

package submission

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Names that mean something in a submission.
const (
	modelName     = "model/policy.zip"
	normalizeName = "model/vecnormalize.pkl"
)

// stock are the packages a worker knows by name and a submission may bring its own of.
var stock = []string{"envs", "policy", "agents", "policies", "competition"}

// maxListed is how many names or keys a warning lists before it counts the rest.
const maxListed = 5

// checkContents refuses a submission that lacks a file its manifest asks for. outside are the files that lie
// beside the submission's folder.
func (s *Submission) checkContents(m *manifest, outside []string) error {
	for _, e := range []entryPoint{m.env, m.policy} {
		if err := s.checkModule(e); err != nil {
			return err
		}
	}
	if m.PolicyEntryPoint != "" || s.Has(modelName) {
		return nil
	}
	hint := "save the model there, or set policy_entry_point"
	if other := s.otherModel(outside); other != "" {
		hint = fmt.Sprintf("there is %s; move it there", quoted(other))
	}
	return refuse(s.root+modelName, ModelMissing, hint, "the model is missing")
}

// otherModel returns the zip within the zip that is most likely the model: one of the right name if there is one,
// else the first of the least deep.
func (s *Submission) otherModel(outside []string) string {
	best, bestRank := "", [2]int{}
	for _, name := range slices.Concat(sortedNames(s.files), outside) {
		if strings.EqualFold(path.Ext(name), ".zip") {
			rank := [2]int{1, strings.Count(name, "/")}
			if path.Base(name) == path.Base(modelName) {
				rank[0] = 0
			}
			if best == "" || slices.Compare(rank[:], bestRank[:]) < 0 {
				best, bestRank = name, rank
			}
		}
	}
	return best
}

// warnings are about what is odd but harmless, always in this order.
func (s *Submission) warnings(m *manifest, outside, junk []string) []string {
	var all []string
	if s.Has(normalizeName) {
		all = append(all, normalizeName+" is not applied: the policy gets the observations as the environment gives them")
	}
	if unused := append(s.unused(m), outside...); len(unused) > 0 {
		all = append(all, fmt.Sprintf("nothing but the team's own code would look for %s", list(unused)))
	}
	if m.EnvEntryPoint == "" && slices.ContainsFunc(sortedNames(s.files), func(f string) bool { return isPackage(f, "envs") }) {
		all = append(all, "envs is in the zip but env_entry_point is not set, so the policy observes the stock environment")
	}
	if m.PolicyEntryPoint != "" && s.Has(modelName) {
		all = append(all, modelName+" is only there for the policy's own use, as policy_entry_point is set")
	}
	if len(junk) > 0 {
		all = append(all, fmt.Sprintf("left out, as operating systems and Python leave such files behind: %s", list(junk)))
	}
	all = append(all, m.unknown[:min(len(m.unknown), maxListed)]...)
	if more := len(m.unknown) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("%s: %d more unknown keys are ignored", printable(m.path), more))
	}
	return all
}

// unused lists the files that neither the evaluation nor a reader would look for.
func (s *Submission) unused(m *manifest) []string {
	packages := slices.Clone(stock)
	for _, e := range []entryPoint{m.env, m.policy} {
		if e.module != nil {
			packages = append(packages, e.module[0])
		}
	}
	var unused []string
	for _, name := range sortedNames(s.files) {
		if name == manifestName || name == modelName || name == normalizeName || isForReaders(path.Base(name)) ||
			slices.ContainsFunc(packages, func(p string) bool { return isPackage(name, p) }) {
			continue
		}
		unused = append(unused, name)
	}
	return unused
}

// isForReaders reports whether a file is there for people: README, LICENSE, *.txt, *.md.
func isForReaders(base string) bool {
	base = strings.ToLower(base)
	return strings.HasPrefix(base, "readme") || strings.HasPrefix(base, "license") || strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".md")
}

// list names the first few and counts the rest.
func list(names []string) string {
	shown := make([]string, 0, maxListed)
	for _, n := range names[:min(len(names), maxListed)] {
		shown = append(shown, printable(n))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func sortedNames(files map[string]entry) []string { return slices.Sorted(maps.Keys(files)) }

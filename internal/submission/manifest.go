package submission

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// manifestName is the file that makes a folder a submission.
const manifestName = "submission.yaml"

// Manifest is what submission.yaml says, with defaults in place of what it leaves out.
type Manifest struct {
	Team             string `json:"team"`               // one line of 1 to 80 characters, for people: / and .. are not refused
	Algo             string `json:"algo"`               // of at most 80 characters; PPO by default
	EnvEntryPoint    string `json:"env_entry_point"`    // pkg.mod:Class or pkg.mod.Class; "" for the stock environment
	PolicyEntryPoint string `json:"policy_entry_point"` // likewise; "" for model/policy.zip
	Deterministic    bool   `json:"deterministic"`      // act by the most probable action; true by default
	Notes            string `json:"notes"`              // free text, perhaps of several lines
}

// keys of a manifest, in the order of the documentation.
var keys = []string{"team", "algo", "env_entry_point", "policy_entry_point", "deterministic", "notes"}

const (
	defaultAlgo = "PPO"

	// maxTextRunes fits a line of the board, and maxEntryPointRunes any sensible module.
	maxTextRunes       = 80
	maxEntryPointRunes = 200

	// maxTokens bounds the YAML before it is parsed, as the parser's time grows with the square of how deep
	// things are nested. A manifest has about thirty.
	maxTokens = 2000
)

// manifest is a Manifest with what remains to be checked or said about it.
type manifest struct {
	Manifest
	path        string // of the file in the zip
	env, policy entryPoint
	unknown     []string // a warning for each unknown key
}

// readManifest reads YAML strictly; path is its name in refusals.
func readManifest(text []byte, path string) (*manifest, error) {
	m := &manifest{Manifest: Manifest{Algo: defaultAlgo, Deterministic: true}, path: path}
	body, err := m.parse(text)
	if err != nil {
		return nil, err
	}
	for _, pair := range body {
		if err := m.set(pair); err != nil {
			return nil, err
		}
	}
	if m.Team == "" {
		return nil, refuse(path, ManifestTeam, "add a line such as team: Sky Rail Heroes", "the manifest names no team")
	}
	return m, nil
}

// parse returns the keys and values of the one document. The parser refuses keys that come twice.
func (m *manifest) parse(text []byte) ([]*ast.MappingValueNode, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, refuse(m.path, ManifestSyntax, "save it as UTF-8", "the manifest is not UTF-8")
	}
	tokens := lexer.Tokenize(string(text))
	if len(tokens) > maxTokens {
		return nil, refuse(m.path, ManifestSyntax, "keep only the keys that are read", "the manifest has more than %d words and signs", maxTokens)
	}
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.MappingKeyType, token.DirectiveType:
			return nil, m.refuse(t, ManifestSyntax, "put the value in quotation marks if it is text", "%s has a meaning in YAML that a manifest does not use", quoted(t.Value))
		}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		at, message := (*token.Token)(nil), err.Error()
		if syntax := (*yaml.SyntaxError)(nil); errors.As(err, &syntax) {
			at, message = syntax.GetToken(), syntax.GetMessage()
		}
		hint := "correct the YAML there"
		if strings.Contains(message, "mapping value") { // such as team: Sky: Rail
			hint = "put a text that contains a colon in quotation marks"
		}
		return nil, m.refuse(at, ManifestSyntax, hint, "%s", singleLine(message))
	}
	var body ast.Node
	for i, doc := range file.Docs {
		if i > 0 {
			return nil, m.refuse(doc.Start, ManifestSyntax, "remove what begins with this ---", "the manifest has more than one document")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, nil // empty, or only comments
	}
	mapping, ok := body.(*ast.MappingNode)
	if !ok {
		return nil, m.refuse(body.GetToken(), ManifestType, "write lines such as team: Sky Rail Heroes", "the manifest is %s, not a mapping", kindOf(body))
	}
	return mapping.Values, nil
}

// set reads one key and its value.
func (m *manifest) set(pair *ast.MappingValueNode) (err error) {
	switch key := pair.Key.GetToken(); key.Value {
	case "team":
		m.Team, err = m.line(pair, maxTextRunes)
		if err == nil && m.Team != "" && !strings.ContainsFunc(m.Team, isVisible) {
			err = m.refuse(pair.Value.GetToken(), ManifestText, "choose a name that can be seen", "the team's name is invisible")
		}
	case "algo":
		if m.Algo, err = m.line(pair, maxTextRunes); m.Algo == "" {
			m.Algo = defaultAlgo
		}
	case "env_entry_point":
		m.EnvEntryPoint, m.env, err = m.entryPoint(pair)
	case "policy_entry_point":
		m.PolicyEntryPoint, m.policy, err = m.entryPoint(pair)
	case "deterministic":
		switch v := pair.Value.(type) {
		case *ast.BoolNode:
			m.Deterministic = v.Value
		case *ast.NullNode:
		default:
			err = m.refuse(v.GetToken(), ManifestType, "write true or false", "deterministic is %s", kindOf(v))
		}
	case "notes":
		m.Notes, err = m.text(pair)
	default:
		warning := fmt.Sprintf("%s: unknown key %s is ignored", m.place(key), quoted(key.Value))
		if near, ok := nearest(key.Value, keys, 3); ok {
			warning += fmt.Sprintf("; did you mean %s?", near)
		}
		m.unknown = append(m.unknown, warning)
	}
	return err
}

// isVisible reports whether a rune leaves a mark. The fillers are letters and a braille cell without a dot.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r)
}

// text is a value that is text, trimmed, and "" for none.
func (m *manifest) text(pair *ast.MappingValueNode) (string, error) {
	var text string
	switch v := pair.Value.(type) {
	case *ast.StringNode:
		text = v.Value
	case *ast.LiteralNode:
		text = v.Value.Value
	case *ast.NullNode:
	case ast.ScalarNode: // a number or a truth value
		return "", m.refuse(v.GetToken(), ManifestType, fmt.Sprintf("put it in quotation marks: %q", clip(v.GetToken().Value)), "%s is %s, not text", pair.Key.GetToken().Value, kindOf(v))
	default:
		return "", m.refuse(v.GetToken(), ManifestType, "write one text, in quotation marks if it has signs", "%s is %s, not text", pair.Key.GetToken().Value, kindOf(v))
	}
	if text = strings.TrimSpace(text); !utf8.ValidString(text) || !isLine(strings.NewReplacer("\n", "", "\t", "").Replace(text)) {
		return "", m.refuse(pair.Value.GetToken(), ManifestText, "remove them", "%s contains control characters", pair.Key.GetToken().Value)
	}
	return text, nil
}

// line is a text of one line.
func (m *manifest) line(pair *ast.MappingValueNode, maxRunes int) (string, error) {
	text, err := m.text(pair)
	switch {
	case err != nil:
		return "", err
	case strings.ContainsAny(text, "\n\t"):
		return "", m.refuse(pair.Value.GetToken(), ManifestText, "write it on one line", "%s contains a line break or a tab", pair.Key.GetToken().Value)
	case utf8.RuneCountInString(text) > maxRunes:
		return "", m.refuse(pair.Value.GetToken(), ManifestText, "shorten it", "%s has %d characters, more than %d", pair.Key.GetToken().Value, utf8.RuneCountInString(text), maxRunes)
	}
	return text, nil
}

func (m *manifest) entryPoint(pair *ast.MappingValueNode) (string, entryPoint, error) {
	text, err := m.line(pair, maxEntryPointRunes)
	if err != nil || text == "" {
		return "", entryPoint{}, err
	}
	e, err := parseEntryPoint(text)
	if err != nil {
		return "", e, m.refuse(pair.Value.GetToken(), ManifestEntryPoint, "write it as pkg.mod:Class, with dots and without .py", "%s is %s, but %w", pair.Key.GetToken().Value, quoted(text), err)
	}
	e.place = m.place(pair.Value.GetToken())
	return text, e, nil
}

func (m *manifest) place(t *token.Token) string {
	if t == nil || t.Position == nil {
		return printable(m.path)
	}
	return fmt.Sprintf("%s:%d:%d", printable(m.path), t.Position.Line, t.Position.Column)
}

func (m *manifest) refuse(t *token.Token, rule Rule, hint, found string, args ...any) error {
	return refuse(m.place(t), rule, hint, found, args...)
}

// kindOf names a value for people.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "a truth value"
	case *ast.NullNode:
		return "empty"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	default:
		return "a text"
	}
}

// singleLine is a foreign error's text, without what would break a line.
func singleLine(message string) string {
	return clip(strings.Map(func(r rune) rune {
		if isLine(string(r)) {
			return r
		}
		return ' '
	}, message))
}

// findManifest returns what the names of the submission's files begin with: "" or a folder and a slash.
func findManifest(entries []entry, zipName string) (root string, err error) {
	var deep, near string
	var folders []string // with a manifest, one down
	better := func(name, than string) bool {
		return than == "" || strings.Count(name, "/") < strings.Count(than, "/")
	}
	for _, e := range entries {
		if e.folder || e.junk {
			continue
		}
		folder, base := splitName(e.name)
		switch depth := strings.Count(e.name, "/"); {
		case base == manifestName && depth == 0:
			return "", nil
		case base == manifestName && depth == 1:
			folders = append(folders, folder)
		case base == manifestName && better(e.name, deep):
			deep = e.name
		case base != manifestName && isNearManifest(base) && better(e.name, near):
			near = e.name
		}
	}
	slices.Sort(folders)
	switch {
	case len(folders) == 1:
		return folders[0], nil
	case len(folders) > 1:
		return "", refuse(zipName, ManifestAmbiguous, "hand in one folder", "the zip has %s and %s", quoted(folders[0]+manifestName), quoted(folders[1]+manifestName))
	}
	hint := "put one at the top of the zip, with a line such as team: Sky Rail Heroes"
	if deep != "" {
		hint = fmt.Sprintf("there is %s, which is too deep; pack the folder it lies in", quoted(deep))
	} else if near != "" {
		hint = fmt.Sprintf("there is %s; rename it to %s", quoted(near), manifestName)
	}
	return "", refuse(zipName, ManifestMissing, hint, "there is no %s at the top or one folder down", manifestName)
}

// splitName cuts a name after its last slash.
func splitName(name string) (folder, base string) {
	i := strings.LastIndex(name, "/") + 1
	return name[:i], name[i:]
}

func isNearManifest(base string) bool {
	_, ok := nearest(base, []string{manifestName, "submission.yaml.txt", "submission.json", "submission"}, 2)
	return ok
}

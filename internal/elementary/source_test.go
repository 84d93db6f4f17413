package elementary

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

// TestNoProductCanFuse wants every float64 product of the package's source to be
// the whole argument of a conversion float64(...), which is what keeps a compiler
// from fusing it with a sum. It also wants no function of package math but those
// that are exact everywhere.
func TestNoProductCanFuse(t *testing.T) {
	fset := token.NewFileSet()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	for _, complaint := range fusible(fset, files) {
		t.Error(complaint)
	}
}

func TestFusibleFindsProducts(t *testing.T) {
	cases := []struct {
		name, body string
		want       int
	}{
		{"accepts a converted product", "return float64(a*b) + a", 0},
		{"accepts whole numbers and constants", "n := 2; n *= 3*n; const c = 2.5*1.5; return c", 0},
		{"refuses a bare product", "return a*b + a", 1},
		{"refuses a product in a variable", "p := a * b; return p + a", 1},
		{"refuses half of a converted expression", "return float64(a*b + a)", 1},
		{"refuses a product in place", "a *= b; return a", 1},
		{"refuses a product of unknown type", "return math.Sqrt(a) * b", 1},
		{"refuses an inexact function", "return math.Sin(a)", 1},
	}
	for _, c := range cases {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", "package x\nimport \"math\"\nfunc f(a, b float64) float64 {"+c.body+"}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := fusible(fset, []*ast.File{f}); len(got) != c.want {
			t.Errorf("it %s: got %q, want %d complaints", c.name, got, c.want)
		}
	}
}

// fusible returns a complaint for each product that may be fused and each
// function of package math that may differ between platforms.
func fusible(fset *token.FileSet, files []*ast.File) (complaints []string) {
	// Imports stay unresolved, and what depends on them has no type: such a
	// product counts as one of floats.
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Error: func(error) {}}
	config.Check("elementary", fset, files, &info)

	isFloat := func(e ast.Expr) bool {
		tv := info.Types[e]
		if tv.Value != nil {
			return false
		}
		if tv.Type == nil {
			return true
		}
		basic, ok := tv.Type.Underlying().(*types.Basic)
		return !ok || basic.Info()&types.IsInteger == 0
	}
	exact := map[string]bool{
		"Abs": true, "Copysign": true, "Sqrt": true, "RoundToEven": true, "Signbit": true,
		"Float64bits": true, "Float64frombits": true, "Inf": true, "IsInf": true, "NaN": true, "MaxFloat64": true,
	}
	complain := func(n ast.Node, what string) {
		complaints = append(complaints, fset.Position(n.Pos()).String()+": got "+what)
	}

	for _, f := range files {
		converted := map[ast.Expr]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "float64" && len(n.Args) == 1 {
					converted[n.Args[0]] = true
				}
			case *ast.BinaryExpr:
				if n.Op == token.MUL && isFloat(n) && !converted[n] {
					complain(n, "a bare product, want float64(a*b)")
				}
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && isFloat(n.Lhs[0]) {
					complain(n, "a product in place, want x = float64(x*y)")
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "math" && !exact[n.Sel.Name] {
					complain(n, "math."+n.Sel.Name+", want only functions that are exact everywhere")
				}
			}
			return true
		})
	}
	return complaints
}

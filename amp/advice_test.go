package amp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// packages maps the packages that advice may name to their directories.
var packages = map[string]string{
	"amp": ".", "apex": "apex", "cuda": "../cuda", "data": "../tensor/data", "diagnose": "diagnose", "dist": "../dist", "experiment": "experiment",
	"nn": "../tensor/nn", "optim": "../tensor/optim", "tensor": "../tensor", "trace": "trace",
}

// properNames are capitalised words in advice that are not Go identifiers.
var properNames = []string{
	"Adam", "Apex", "Cores", "Go", "NaN", "NumPy", "PyTorch", "TF32", "Tensor",
}

var (
	qualified   = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`)                // nn.Linear, scaler.Update
	chained     = regexp.MustCompile(`\)\.([A-Z]\w*)`)                          // net.Forward(x).Mean
	limits      = regexp.MustCompile(`FInfo\((?:[^()]|\([^()]*\))*\)\.(\w+)`)   // FInfo(x.DType()).Max
	called      = regexp.MustCompile(`(?:^|[^.\w])([A-Z]\w*)[({]`)              // Float()
	midSentence = regexp.MustCompile(`[a-z0-9,;)] ([A-Z]\w*[a-z]\w*)`)          // call Unscale
	composed    = regexp.MustCompile(`(?:^|[^.\w])([A-Z]+\w*[a-z0-9][A-Z]\w*)`) // LogSoftmax
)

// TestAdvice checks that every identifier in a cure, hint, cause or lint rule exists.
func TestAdvice(t *testing.T) {
	byPackage := map[string]map[string]bool{}
	any := map[string]bool{}
	for name, dir := range packages {
		byPackage[name] = exported(t, dir)
		for key := range byPackage[name] {
			_, member, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(key, "method "), "var "), ".")
			if !ok {
				member = key
			}
			any[member], any[strings.TrimPrefix(key, "method ")] = true, true
		}
	}
	exists := func(name string) bool { return any[name] || slices.Contains(properNames, name) }
	texts := advice(t)
	if len(texts) < 150 {
		t.Errorf("got %d texts of advice, want at least 150", len(texts))
	}
	for _, text := range texts {
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			if names, ok := byPackage[m[1]]; ok && !names[m[2]] || !ok && m[1] != "math" && !exists(m[2]) {
				t.Errorf("%s does not exist: %s", m[0], text)
			}
		}
		for _, m := range limits.FindAllStringSubmatch(text, -1) {
			if !byPackage["tensor"]["FloatInfo."+m[1]] {
				t.Errorf("%s: FloatInfo has no field %s: %s", m[0], m[1], text)
			}
		}
		for _, re := range []*regexp.Regexp{chained, called, midSentence, composed} {
			for _, m := range re.FindAllStringSubmatch(text, -1) {
				if !exists(m[1]) && m[1] != strings.ToUpper(m[1]) {
					t.Errorf("%s does not exist: %s", m[1], text)
				}
			}
		}
	}
}

// advice returns the texts of this package and the packages below it that tell a user what to do.
func advice(t *testing.T) (texts []string) {
	t.Helper()
	add := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	for _, path := range testenv.Tracked(t, ".") {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr: // Error{Cure: …}, rule{why: …}
				if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"cure", "finds", "hint", "why"}, strings.ToLower(key.Name)) {
					add(n.Value)
				}
			case *ast.ValueSpec: // the table of causes
				if n.Names[0].Name == "causes" {
					add(n)
				}
			case *ast.AssignStmt: // hint = …
				if id, ok := n.Lhs[0].(*ast.Ident); ok && slices.Contains([]string{"cure", "hint"}, id.Name) {
					add(n)
				}
			case *ast.FuncDecl: // functions that return advice
				if slices.Contains([]string{"cure", "harmlessly", "lowScale"}, n.Name.Name) {
					add(n)
				}
			case *ast.CallExpr: // refuse(code, cure, …), need(call, name, …)
				switch f := n.Fun.(type) {
				case *ast.Ident:
					if f.Name == "refuse" || f.Name == "need" {
						add(n)
					}
				case *ast.SelectorExpr:
					if f.Sel.Name == "refuse" {
						add(n)
					}
				}
			}
			return true
		})
	}
	return texts
}

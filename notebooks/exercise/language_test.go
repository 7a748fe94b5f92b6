package exercise

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLanguages checks each table of translations: it has every text that the program asks for in any lesson, and all texts of
// the lessons that are translated; no text that nothing asks for; and the same values in both languages.
func TestLanguages(t *testing.T) {
	common := askedFor(t)
	verb := regexp.MustCompile(`%(\[\d+\])?[-+# 0.\d]*[a-zA-Z]`)
	for code, table := range tables() {
		if code == "en" {
			continue
		}
		files, err := filepath.Glob("../" + code + "/[0-9][0-9]-*.ipynb")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d translated lessons, error %v", code, len(files), err)
		}
		want := map[string]bool{}
		for _, text := range common {
			want[text] = true
		}
		for _, file := range files {
			for _, text := range textsOf(t, filepath.Base(file)[:2]) {
				want[text] = true
			}
		}
		for text := range want {
			if table[text] == "" {
				t.Errorf("%s.txt lacks a translation of %q", code, text)
			}
		}
		for text, translation := range table {
			if !want[text] && !slices.Contains(allTexts(t), text) {
				t.Errorf("%s.txt: nothing asks for %q", code, text)
			}
			if translation == text {
				t.Errorf("%s.txt: %q is not translated", code, text)
			}
			values := func(text string) []string {
				found := verb.FindAllString(strings.ReplaceAll(text, "%%", ""), -1)
				for i, v := range found {
					found[i] = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(v, "")
				}
				slices.Sort(found)
				return found
			}
			if !slices.Contains(common, text) { // other texts are shown as they are: "2 % of" has a share, not a verb
				continue
			}
			if got, want := values(translation), values(text); !slices.Equal(got, want) {
				t.Errorf("%s.txt: %q has the values %v, want those of %q, %v", code, translation, got, text, want)
			}
		}
	}
}

// askedFor returns the texts that the program's source gives to tr, complain or fail.
func askedFor(t *testing.T) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := goparser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if literal, ok := call.Args[0].(*ast.BasicLit); ok && slices.Contains([]string{"tr", "complain", "fail"}, name) {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text)
			}
			return true
		})
	}
	if len(texts) < 30 {
		t.Fatalf("found %d texts", len(texts))
	}
	return texts
}

// textsOf returns the texts of a lesson.
func textsOf(t *testing.T, number string) (texts []string) {
	t.Helper()
	l := lessonOf("Check", number)
	texts = append(texts, l.title)
	for _, p := range l.predictions {
		texts = append(texts, p.question)
	}
	for _, e := range l.exercises {
		texts = append(append(texts, e.task, e.why), e.hints...)
		if s, ok := e.accept.(satisfyingAnswer); ok {
			texts = append(texts, s.describe)
		}
		for _, m := range e.mistakes {
			texts = append(texts, m.hint)
		}
	}
	return texts
}

// allTexts returns the texts of all lessons.
func allTexts(t *testing.T) (texts []string) {
	for _, l := range lessons {
		texts = append(texts, textsOf(t, l.number)...)
	}
	return append(texts, "a func(x *tensor.Tensor) *tensor.Tensor")
}

// TestKorean checks that a Korean kernel asks, refuses, hints and praises in Korean, and an unknown language is refused.
func TestKorean(t *testing.T) {
	os.Setenv("HALFNOTE_PROGRESS", "")
	Language("ko")
	t.Cleanup(Restart)
	for _, c := range []struct{ got, want string }{
		{Predict("13", nil).String(), "나머지 여섯 가운데 몇 개의 마지막 loss가 float32의 loss와 2 % 이내로 같을까요? nil 자리에 예측을 쓰세요: 0부터 6까지의 정수."},
		{Predict("13", 9).String(), "✗ 예측을 저장하지 않았습니다. 9은(는) 여기에 맞지 않습니다."},
		{Predict("13", 5).String(), "예측을 저장했습니다: 5."},
		{Compare("13", 6).String(), "✗ 조금 다릅니다. 예측은 5, 결과는 6입니다."},
		{Check("13.1", nil).String(), "13.1 아직 답하지 않았습니다. nil 자리에 답을 쓰세요: "},
		{Check("13.1", "O1").String(), "✗ 13.1 아직 정답이 아닙니다. O1은 파라미터를 float32로 둡니다."},
		{Check("13.1", "O9").String(), "✗ 13.1 아직 정답이 아닙니다. 힌트 1/2: 표에서 두 행"},
		{Check("13.1", "O2").String(), "✓ 13.1 정답입니다. master weight가 있는 것은 O2뿐입니다."},
		{Check("01.5", []float64{1, 2e-38}).String(), "2개 가운데 0개가 맞았습니다. 아직 틀린 것: 1, 2번째"},
		{Check("01.1", "1 + ").String(), `"1 + "을(를) 수로 읽을 수 없습니다: 식이 너무 일찍 끝납니다.`},
		{Check("13.3", 1).String(), "필요한 것은 apex.O3 같은 apex.OptLevel입니다. int이(가) 아닙니다."},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	defer func() {
		if got, want := fmt.Sprint(recover()), `exercise.Language: unknown language "kr"; want one of en, ko`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}()
	Language("kr")
}

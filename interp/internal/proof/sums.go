package proof

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
)

func sortBy[T any, K cmp.Ordered](list []T, key func(T) K) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// sumLength is the number of characters of a hash.
const sumLength = 4

// Sum returns a short hash of what a cell prints.
func Sum(printed string) string {
	h := sha256.Sum256([]byte(printed))
	return base64.RawURLEncoding.EncodeToString(h[:])[:sumLength]
}

// groupSize is the number of cells in a line of a file of hashes.
const groupSize = 20

// groups splits cells as lines of a file of hashes do.
func groups(cells []Cell) [][]Cell { return slices.Collect(slices.Chunk(cells, groupSize)) }

// source returns a hash of the texts of a group of cells and of all that they use.
func source(group []Cell) string {
	text := Section("") + Runner
	for _, name := range sections(group) {
		text += Section(name)
	}
	for _, c := range group {
		text += c.Session() + c.Func()
	}
	return short(text)
}

// ReadSums reads the hashes of what compiled Go prints for each group, by the hash of the group's source. A missing file is empty.
func ReadSums(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return map[string]string{}, nil
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		source, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		sums[source] = sum
	}
	return sums, err
}

// WriteSums writes the hashes of groups in their order.
func WriteSums(file string, cells []Cell, sums map[string]string) error {
	var b strings.Builder
	for _, group := range groups(cells) {
		fmt.Fprintln(&b, source(group), sums[source(group)])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

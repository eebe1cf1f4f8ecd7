package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Each call of tfdeps in README and the pages of docs, in a block of code or in a sentence, is of an existing command, with
// existing options.
func TestPages_NameCommandsAndOptionsThatExist(t *testing.T) {
	t.Parallel()
	pages := append(must.Get(filepath.Glob(filepath.Join("..", "docs", "*.md")))(t), filepath.Join("..", "README.md"))
	inSentences, inBlocks := regexp.MustCompile("`(?:[^`\n]*\\| )?tfdeps ([^`\n|]+)`"), regexp.MustCompile(`(?m)^ *(?:- run: |- |[A-Z_]+='?\S+ )?tfdeps ([^|#>\n]+)`)
	global := []string{"chdir", "help", "version", "passthrough", "no-color"}
	seen := 0
	for _, page := range pages {
		var calls [][]string
		for i, part := range strings.Split(string(must.Get(os.ReadFile(page))(t)), "```") {
			calls = append(calls, []*regexp.Regexp{inSentences, inBlocks}[i%2].FindAllStringSubmatch(part, -1)...)
		}
		for _, call := range calls {
			words, _ := untilDashes(strings.Fields(call[1]))
			name, _, _ := choose(words)
			if strings.HasPrefix(name, "help") || name == "" || slices.Contains(words, "-passthrough") {
				continue
			}
			seen++
			at := slices.IndexFunc(commands(), func(c cli.Command) bool { return c.Name == name })
			if at < 0 && name != "cache" {
				t.Errorf("%s: there is no command %q, as in %q", page, name, strings.Join(words, " "))
				continue
			}
			known := slices.Clone(global)
			if at >= 0 {
				for _, f := range commands()[at].Flags() {
					known = append(known, f.Name, f.Alias)
				}
			}
			for _, word := range words {
				if option := cli.OptionName(strings.Trim(word, "'\"")); option != "" && !slices.Contains(known, option) {
					t.Errorf("%s: %s has no option -%s, as in %q", page, name, option, strings.Join(words, " "))
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("the pages name %d calls, and there are more", seen)
	}
}

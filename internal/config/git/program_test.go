package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

func TestProgram_KeepsTheBeginningOfAnswersAndTheEndOfMessages(t *testing.T) {
	t.Parallel()
	answer, message := &subprocess.Head{Limit: 5}, &subprocess.Tail{Limit: 5}
	for _, c := range []struct {
		written, answer, message string
		over                     bool
	}{
		{"abc", "abc", "abc", false}, {"", "abc", "abc", false}, {"de", "abcde", "abcde", false},
		{"f", "abcde", "bcdef", true}, {"ghijklm", "abcde", "ijklm", true},
	} {
		if n, err := answer.Write([]byte(c.written)); n != len(c.written) || err != nil || string(answer.Kept) != c.answer || answer.Over != c.over {
			t.Errorf("after %q the answer is %q, more came: %v (%d, %v)", c.written, answer.Kept, answer.Over, n, err)
		}
		if n, err := message.Write([]byte(c.written)); n != len(c.written) || err != nil || string(message.Kept) != c.message || message.Over != c.over {
			t.Errorf("after %q the message is %q (%d, %v)", c.written, message.Kept, n, err)
		}
	}
}

// git sets variables with a repository for its hooks; the store ignores them.
func TestProgram_IsToldOfNoOtherRepository(t *testing.T) {
	needShell(t)
	o, ids, b := parallelBench(t)
	program, _ := requireGit(t)
	elsewhere := filepath.Join(b.work, "elsewhere")
	seen := filepath.Join(b.work, "environment")
	b.Program = script(t, filepath.Join(b.work, "git"), "env >>'"+seen+"'\nexec '"+program+"' \"$@\"")
	names := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_NAMESPACE", "GIT_CONFIG", "GIT_TEMPLATE_DIR", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_GRAFT_FILE"}
	for _, name := range names {
		b.Environ = append(b.Environ, name+"="+elsewhere)
	}
	commit, _, err := b.checkout(t.Context(), o.at(""))
	must.Succeed(t, err)
	must.Equal(t, commit, ids["main3"], "commit")
	content := must.Get(os.ReadFile(seen))(t)
	must.Contain(t, string(content), "\nGIT_TERMINAL_PROMPT=0\n", "git ran with")
	for _, name := range names {
		must.NotContain(t, string(content), name+"="+elsewhere, "git is told of", name)
	}
}

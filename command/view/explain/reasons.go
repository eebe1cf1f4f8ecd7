package explain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// reasons are texts of the standard library, and plain words that replace them in details:
// the name of a system call tells people nothing, nor does the name of a temporary file. They are replaced in finished
// texts, because most libraries that have them in their errors keep no *fs.PathError.
var reasons = sync.OnceValue(func() (all []reason) {
	const calls = `(?i)\b(?:chdir|chmod|fstatat|link|lstat|mkdir|mkdirat|open|openat|read|readdirent|remove|rename|stat|symlink|unlinkat|write)`
	const why = `(no such file or directory|permission denied|is a directory|not a directory|file exists|read-only file system|` +
		`operation not permitted|input/output error|no space left on device|disk quota exceeded|file name too long|too many levels of symbolic links)`
	for _, r := range [][2]string{
		{calls + ` \.tfdeps-[\w-]+(?:/[^\s:]*)?: ` + why, "no file can be made in this directory: $1"},
		{calls + ` ([^\s:]*/)\.tfdeps-[\w-]+(?:/[^\s:]*)?: ` + why, "no file can be made in $1: $2"},
		{calls + ` (\S+): ` + why, "$1: $2"},
		{`\bunexpected EOF\b`, "it ends too early"},
		{`\bunexpected end of JSON input\b`, "the JSON ends too early"},
		{`\binvalid character ('.+?') looking for beginning of (?:value|object key string)`, "invalid character $1 where a value or a key has to begin: this isn't JSON"},
	} {
		all = append(all, reason{regexp.MustCompile(r[0]), r[1]})
	}
	return all
})

type reason struct {
	text *regexp.Regexp
	by   string
}

// plainWords replaces the texts of reasons.
func plainWords(text string) string {
	for _, r := range reasons() {
		text = r.text.ReplaceAllString(text, r.by)
	}
	return text
}

// ByModules merges the problems of modules that failed for the same cause, such as a registry
// that doesn't answer: the first problem lists the places of the others.
func ByModules(all problem.List) problem.List {
	return together(all, moduleCause, func(detail string, others problem.List) string {
		places := texts(others, func(p *problem.Problem) string { return fmt.Sprintf("%s:%d", p.Subject.Filename, p.Subject.Start.Line) })
		return detail + list("The modules that are called here can't be installed for the same reason:", slices.Compact(places))
	})
}

// together returns the first of the problems with the same key. detail makes its new detail from its own and the others. A problem with
// the key "" isn't changed.
func together(all problem.List, key func(*problem.Problem) string, detail func(own string, others problem.List) string) (left problem.List) {
	at, others := map[string]int{}, map[int]problem.List{}
	for _, p := range all {
		k := key(p)
		if first, seen := at[k]; seen && k != "" {
			others[first] = append(others[first], p)
			continue
		}
		at[k] = len(left)
		left = append(left, p)
	}
	for i, more := range others {
		first := *left[i]
		first.Detail = detail(first.Detail, more)
		left[i] = &first
	}
	return left
}

// moduleCause returns a key for a cause that several modules may share, or "" if the cause can't be shared,
// or the problem is about no module.
func moduleCause(p *problem.Problem) string {
	unlocated, ok := p.Extra.(modules.Unlocated)
	if !ok || p.Subject == nil {
		return ""
	}
	if refused := getproviders.FaultOf(unlocated.Err, getproviders.ErrUnauthorized); refused != nil && refused.Host != "" {
		return "credentials " + refused.Host.String()
	}
	key, _ := cause.SharedCause(unlocated.Err)
	return key
}

// unquoted returns a hint about missing quotes, often the reason why text is read as the name of a variable. HCL's summary is all that
// tells this problem.
func unquoted(p *problem.Problem) string {
	if p.Summary != "Variables not allowed" || p.Subject != nil && slices.Contains([]string{".tf", ".tofu", ".json"}, filepath.Ext(p.Subject.Filename)) {
		return ""
	}
	return " Text has to be in quotes."
}

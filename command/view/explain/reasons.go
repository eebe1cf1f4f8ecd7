package explain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// reasons are texts of the standard library in an explanation, and what people read in their place:
// what a system call is named tells them nothing, nor does the name of a file that was being made. They are looked for in finished
// texts because they are others' and reach us within errors of libraries, of which most say them and keep no *fs.PathError.
var reasons = sync.OnceValue(func() (all []reason) {
	const calls = `(?i)\b(?:chdir|chmod|fstatat|link|lstat|mkdir|mkdirat|open|openat|read|readdirent|remove|rename|stat|symlink|unlinkat|write)`
	const why = `(no such file or directory|permission denied|is a directory|not a directory|file exists|read-only file system|` +
		`operation not permitted|input/output error|no space left on device|disk quota exceeded|file name too long|too many levels of symbolic links)`
	for _, r := range [][2]string{
		{calls + ` ((?:[^\s:]*/)?)\.tfdeps-[\w-]+(?:/[^\s:]*)?: ` + why, "no file can be made in ${1}.: $2"},
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

// plainWords is an explanation with such texts replaced.
func plainWords(text string) string {
	for _, r := range reasons() {
		text = r.text.ReplaceAllString(text, r.by)
	}
	text = strings.ReplaceAll(text, "can be made in .: ", "can be made in this directory: ")
	return strings.ReplaceAll(text, "/.: ", "/: ")
}

// ByModules puts together the problems of modules that failed for one cause, such as a registry
// that gives no answer: the first of them tells where the others are.
func ByModules(all problem.List) problem.List {
	return together(all, moduleCause, func(detail string, others problem.List) string {
		places := texts(others, func(p *problem.Problem) string { return fmt.Sprintf("%s:%d", p.Subject.Filename, p.Subject.Start.Line) })
		return detail + list("The modules that are called here can't be installed for the same reason:", slices.Compact(places))
	})
}

// together leaves the first of the problems with the same key. Its new detail is made from its own and the others. A problem with
// the key "" stays as it is.
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

// moduleCause is a key for a cause that several modules may share; "": the cause is the module's own,
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

// unquoted adds to an explanation what is often the reason why a name is taken for a variable's.
func unquoted(p *problem.Problem) string {
	if p.Summary != "Variables not allowed" || p.Subject != nil && slices.Contains([]string{".tf", ".tofu", ".json"}, filepath.Ext(p.Subject.Filename)) {
		return ""
	}
	return " Text has to be in quotes."
}

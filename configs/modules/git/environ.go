package git

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strings"
)

// leftOut are variables that would lead git to another repository than the one
// it is told, or change the language of what is quoted.
var leftOut = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DEFAULT_HASH", "GIT_DIR",
	"GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE",
	"GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE", "GIT_TEMPLATE_DIR", "GIT_WORK_TREE", "LANGUAGE", "LC_ALL",
}

// environment returns what a run of git is given, and the function that
// removes the key from the disk afterwards.
func (r *Repositories) environment(c call) (env []string, forget func(), err error) {
	for _, entry := range r.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(leftOut, func(n string) bool { return sameVariable(n, name) }) {
			env = append(env, entry)
		}
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "LC_MESSAGES=C", "GIT_DEFAULT_REF_FORMAT=files")
	if c.distrusted {
		env = append(env, "GIT_PROTOCOL_FROM_USER=0")
	}
	env = append(env, c.env...)
	if c.key == nil {
		return env, func() {}, nil
	}
	file, err := writeKey(c.key)
	if err != nil {
		return nil, nil, err
	}
	ssh := cmp.Or(variable(r.Environ, "GIT_SSH_COMMAND"), "ssh")
	return append(env, "GIT_SSH_COMMAND="+ssh+" -i "+shellQuote(file)), func() { os.Remove(file) }, nil
}

// writeKey puts a key where only the user can read it.
func writeKey(key []byte) (path string, err error) {
	file, err := os.CreateTemp("", "tfdeps-key-") // 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(key)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// shellQuote makes one word of a path for the shell that git runs ssh by; on
// Windows that is a shell, too, and a backslash means something to it.
func shellQuote(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// variable returns what an environment says, the last entry if there are several.
func variable(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if n, v, ok := strings.Cut(entry, "="); ok && sameVariable(n, name) {
			value = v
		}
	}
	return value
}

// sameVariable compares names as the system does.
func sameVariable(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

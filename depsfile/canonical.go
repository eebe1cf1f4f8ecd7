package depsfile

import (
	"bytes"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// decodeCanonical reads a file in the exact form that Encode writes, without the HCL parser: every
// run of every command reads this file, and the parser takes ten times as long. It returns false
// for any other form and for any mistake, so that the parser reports the problem.
func decodeCanonical(src []byte, product getproviders.Product) (*Locks, bool) {
	lines := canonicalLines{rest: src}
	locks := &Locks{}
	for line, ok := lines.next(); ok; line, ok = lines.next() {
		if line == "" || line[0] == '#' {
			continue
		}
		address, isBlock := strings.CutPrefix(line, "provider ")
		address, hasBody := strings.CutSuffix(address, " {")
		p, isAddress := canonicalAddress(address, product)
		if !isBlock || !hasBody || !isAddress {
			return nil, false
		}
		if _, duplicate := locks.Provider(p); duplicate {
			return nil, false
		}
		lock, ok := lines.lock(p)
		if !ok {
			return nil, false
		}
		locks.put(lock)
	}
	return locks, len(lines.rest) == 0
}

// canonicalLines are the lines that haven't been read yet.
type canonicalLines struct{ rest []byte }

// next returns the next line, without its newline and indentation. It returns false at the
// end, for a line without a newline, and for one with anything but printable ASCII.
func (l *canonicalLines) next() (string, bool) {
	end := bytes.IndexByte(l.rest, '\n')
	if end < 0 {
		return "", false
	}
	line := l.rest[:end]
	for _, c := range line {
		if c < ' ' || c > '~' {
			return "", false
		}
	}
	l.rest = l.rest[end+1:]
	return string(bytes.TrimLeft(line, " ")), true
}

// lock reads the body of a block.
func (l *canonicalLines) lock(p getproviders.Provider) (lock Lock, ok bool) {
	lock.Provider = p
	seen := map[string]bool{}
	for line, ok := l.next(); ok; line, ok = l.next() {
		if line == "}" {
			return lock, seen["version"]
		}
		name, value, hasValue := strings.Cut(line, "=")
		name, value = strings.TrimRight(name, " "), strings.TrimLeft(value, " ")
		if !hasValue || seen[name] {
			return lock, false
		}
		seen[name] = true
		switch name {
		case "version":
			text, isText := canonicalText(value)
			v, err := getproviders.ParseVersion(text)
			if !isText || err != nil || v.String() != text {
				return lock, false
			}
			lock.Version = v
		case "constraints":
			text, isText := canonicalText(value)
			c, err := getproviders.ParseConstraints(text)
			if !isText || err != nil || c.String() != text {
				return lock, false
			}
			lock.Constraints = c
		case "hashes":
			if lock.Hashes = l.hashes(); value != "[" || len(lock.Hashes) == 0 {
				return lock, false
			}
		default:
			return lock, false
		}
	}
	return lock, false
}

// hashes reads a list with one hash per line, or returns nil if the list has another form.
func (l *canonicalLines) hashes() (hashes []getproviders.Hash) {
	for line, ok := l.next(); ok; line, ok = l.next() {
		if line == "]" {
			return hashes
		}
		element, isElement := strings.CutSuffix(line, ",")
		text, isText := canonicalText(element)
		hash, err := getproviders.ParseHash(text)
		if !isElement || !isText || err != nil {
			return nil
		}
		hashes = append(hashes, hash)
	}
	return nil
}

// canonicalText returns the text between quotation marks, or false
// if it has escape or template sequences.
func canonicalText(quoted string) (string, bool) {
	last := len(quoted) - 1
	if last < 1 || quoted[0] != '"' || quoted[last] != '"' || strings.ContainsAny(quoted[1:last], "\"\\$%") {
		return "", false
	}
	return quoted[1:last], true
}

// canonicalAddress parses a quoted address, or returns false if it
// isn't written in full or can't be locked.
func canonicalAddress(quoted string, product getproviders.Product) (p getproviders.Provider, ok bool) {
	text, ok := canonicalText(quoted)
	if !ok {
		return p, false
	}
	p, err := product.ParseProvider(text)
	return p, err == nil && !p.IsBuiltIn() && !p.IsLegacy() && p.String() == text
}

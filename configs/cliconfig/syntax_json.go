package cliconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads the JSON form. It keeps repeated names and lines, which
// json.Unmarshal doesn't.
func decodeJSON(src []byte) (value, *syntaxError) {
	r := &jsonReader{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	r.dec.UseNumber()
	v, err := r.value()
	if err == nil {
		if _, rest := r.dec.Token(); rest == nil || !errors.Is(rest, io.EOF) {
			err = errors.New("there is something after the end of the JSON object")
		}
	}
	if err != nil {
		return value{}, r.explain(err)
	}
	return v, nil
}

type jsonReader struct {
	src     []byte
	dec     *json.Decoder
	counted int64 // bytes in which line breaks have been counted
	breaks  int
}

// line returns the line in which the last token ended, which is also where it
// started: no token of JSON has a line break.
func (r *jsonReader) line() int {
	at := r.dec.InputOffset()
	r.breaks += bytes.Count(r.src[r.counted:at], []byte("\n"))
	r.counted = at
	return 1 + r.breaks
}

func lineAt(src []byte, offset int64) int {
	return 1 + bytes.Count(src[:min(max(offset, 0), int64(len(src)))], []byte("\n"))
}

func (r *jsonReader) explain(err error) *syntaxError {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		at, read := s.Offset, r.dec.InputOffset()
		if at != read { // then it counts from the beginning of the value
			at += read
		}
		return &syntaxError{lineAt(r.src, at), "invalid JSON: " + s.Error()}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &syntaxError{lineAt(r.src, int64(len(r.src))), "invalid JSON: it ends too early"}
	}
	return &syntaxError{r.line(), "invalid JSON: " + err.Error()}
}

func (r *jsonReader) value() (value, error) {
	t, err := r.dec.Token()
	if err != nil {
		return value{}, err
	}
	v := value{line: r.line()}
	switch t := t.(type) {
	case string:
		v.kind, v.text = isString, t
	case json.Number:
		v.kind, v.text = isNumber, t.String()
	case bool:
		v.kind, v.text = isBool, fmt.Sprint(t)
	case json.Delim:
		return r.nested(v, t)
	}
	return v, nil
}

// nested reads an object or a list after its first bracket.
func (r *jsonReader) nested(v value, open json.Delim) (value, error) {
	v.kind = isList
	if open == '{' {
		v.kind = isObject
	}
	for r.dec.More() {
		if v.kind == isObject {
			f, err := r.field()
			if err != nil {
				return value{}, err
			}
			v.object = append(v.object, f)
			continue
		}
		element, err := r.value()
		if err != nil {
			return value{}, err
		}
		v.list = append(v.list, element)
	}
	_, err := r.dec.Token()
	return v, err
}

func (r *jsonReader) field() (field, error) {
	name, err := r.value()
	if err != nil {
		return field{}, err
	}
	v, err := r.value()
	return field{name: name.text, line: name.line, value: v}, err
}

package state

import (
	"encoding/json"
	"fmt"
	"io"
)

// properties calls visit with the name of each property of an object whose
// opening brace was read. The visitor has to read the value.
func (s *reader) properties(visit func(name string) error) error {
	return s.each(func() error {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		name, _ := token.(string) // the decoder accepts nothing else here
		return visit(name)
	})
}

// each reads the rest of what was opened.
func (s *reader) each(visit func() error) error {
	for s.dec.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// list reads a list, which may be null, and calls visit for each element, which has to read it.
func (s *reader) list(what string, visit func() error) error {
	if there, err := s.open(what, "a list", '['); err != nil || !there {
		return err
	}
	return s.each(visit)
}

// object visits the properties of an object, or of null, which has none.
func (s *reader) object(what string, visit func(name string) error) error {
	if there, err := s.open(what, "an object", '{'); err != nil || !there {
		return err
	}
	return s.properties(visit)
}

// open reads how a list or an object begins; false if there is null.
func (s *reader) open(what, kind string, begin json.Delim) (there bool, err error) {
	token, err := s.dec.Token()
	if err == nil && token != nil && token != begin {
		err = fmt.Errorf("%s is not %s", what, kind)
	}
	return token != nil, unexpectedEOF(err)
}

// skip reads a value of any kind.
func (s *reader) skip() error {
	for depth := 0; ; {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// unexpectedEOF is for the places where the file mustn't end.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

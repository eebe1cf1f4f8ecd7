package state

import (
	"encoding/json"
	"fmt"
	"io"
)

// properties calls visit with the name of each property of an object whose
// opening brace was read. The visitor has to read the value.
func (s *reader) properties(visit func(name string) error) error {
	for s.dec.More() {
		token, err := s.dec.Token()
		if err != nil {
			return unexpectedEOF(err)
		}
		name, _ := token.(string) // the decoder accepts nothing else here
		if err := visit(name); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// list reads a list, which may be null, and calls visit for each of its objects,
// whose opening brace was read.
func (s *reader) list(what string, visit func() error) error {
	switch token, err := s.dec.Token(); {
	case err != nil:
		return unexpectedEOF(err)
	case token == nil:
		return nil
	case token != json.Delim('['):
		return fmt.Errorf("%s is not a list", what)
	}
	for s.dec.More() {
		if token, err := s.dec.Token(); err != nil {
			return unexpectedEOF(err)
		} else if token != json.Delim('{') {
			return fmt.Errorf("something in %s is not an object", what)
		}
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return unexpectedEOF(err)
}

// object visits the properties of an object, or of null, which has none.
func (s *reader) object(what string, visit func(name string) error) error {
	switch token, err := s.dec.Token(); {
	case err != nil:
		return unexpectedEOF(err)
	case token == nil:
		return nil
	case token != json.Delim('{'):
		return fmt.Errorf("%s is not an object", what)
	}
	return s.properties(visit)
}

// check reads a value and keeps the first problem that is found with one. It passes over lists and objects.
func (s *reader) check(problem func(val any) error) error {
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	if _, open := token.(json.Delim); open {
		if err := s.skipRest(); err != nil {
			return err
		}
	}
	if err := problem(token); err != nil {
		s.refuse(err)
	}
	return nil
}

// skip reads a value of any kind.
func (s *reader) skip() error {
	token, err := s.dec.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	if _, open := token.(json.Delim); open {
		return s.skipRest()
	}
	return nil
}

// skipRest reads the rest of a list or an object.
func (s *reader) skipRest() error {
	for depth := 1; depth > 0; {
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
	}
	return nil
}

// unexpectedEOF is for the places where the file mustn't end.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

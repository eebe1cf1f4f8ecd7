package policy

// Internals for the tests.
type Candidate = candidate

var Parse = parse

func (p Policy) Check(c Candidate) *Refusal { return p.check(c) }

// Advice exports advice.
func (p Policy) Advice(c Candidate) []*Refusal { return p.advice(c) }

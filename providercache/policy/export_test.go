package policy

// What the tests are about beside the names that programs have.
type Candidate = candidate

var Parse = parse

func (p Policy) Check(c Candidate) *Refusal { return p.check(c) }

// Advice is what advisory rules say, for tests.
func (p Policy) Advice(c Candidate) []*Refusal { return p.advice(c) }

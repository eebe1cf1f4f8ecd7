// Package par is where this module's goroutines live: bounded, with results
// in order, and with every error kept.
//
// Nothing outside this package starts a goroutine or makes a channel in
// production code, so that "can it leak, can it race, is it bounded" is
// answered by reading these few functions.
//
// All of them wait for what they started before they return, with one
// exception: a [Memo] call that nobody waits for any more is cancelled and left
// to end by itself, because its last caller wanted to leave at once; [Memo.Settle]
// waits for it. Functions given to this package must therefore obey their
// context. A panic in one of them is not caught.
package par

package fetch

import (
	"context"
	"io"
)

// reportKey is the context key of a *report.
type reportKey struct{}

// report is the progress of a package.
type report struct {
	tell        func(done, total int64)
	done, total int64
}

// reporting returns a context for progress reports, and a function that ends them.
func reporting(ctx context.Context, tell func(pkg string, done, total int64, ended bool), pkg string) (with context.Context, end func()) {
	if tell == nil {
		return ctx, func() {}
	}
	r := &report{total: -1, tell: func(done, total int64) { tell(pkg, done, total, false) }}
	r.tell(0, -1)
	return context.WithValue(ctx, reportKey{}, r), func() { tell(pkg, r.done, r.total, true) }
}

// reportEvery is the number of bytes between two reports.
const reportEvery = 256 << 10

// reported returns a reader whose progress is reported.
func reported(ctx context.Context, from io.Reader, total int64) io.Reader {
	r, ok := ctx.Value(reportKey{}).(*report)
	if !ok {
		return from
	}
	r.done, r.total = 0, total
	r.tell(0, total)
	return &reportedReader{from: from, report: r}
}

type reportedReader struct {
	from   io.Reader
	report *report
	told   int64
}

// Read implements io.Reader.
func (r *reportedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.report.done += int64(n)
	if r.report.done-r.told >= reportEvery || err == io.EOF {
		r.told = r.report.done
		r.report.tell(r.report.done, r.report.total)
	}
	return n, err
}

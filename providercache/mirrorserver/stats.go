package mirrorserver

import "github.com/tfdeps/tfdeps/internal/par"

// Stats are what a server has done since it was made. Counts only grow.
type Stats struct {
	Requests       int64 // all of them
	Documents      int64 // answers with a document, those that say that nothing has changed included
	Stored         int64 // archives served from the bucket
	Fetched        int64 // archives served while they were downloaded, or afterwards without being stored
	Coalesced      int64 // of these, those that another request had begun to download
	NotFound       int64 // answers 404
	Failed         int64 // other answers that are errors
	Broken         int64 // responses that broke off, because the download failed or the archive isn't what it should be
	Downloads      int64 // of archives, begun
	Downloading    int64 // of archives, that run now
	DownloadedSize int64 // bytes of archives that were downloaded whole
	ServedSize     int64 // bytes of archives that were sent: StoredSize and FetchedSize
	StoredSize     int64 // of these, those from the bucket
	FetchedSize    int64 // of these, the others
	Refused        int64 // archives that weren't authentic
	Stale          int64 // answers of the source that were used again because it failed
	SourceFailures int64 // failures of the source where nothing was known
	StoreFailures  int64 // failures to write the bucket
	Removed        int64 // archives that Collect has removed
	RemovedSize    int64 // their bytes
}

// counters are Stats while they are counted.
type counters struct {
	requests, documents, stored, fetched, coalesced, notFound, failed, broken par.Counter
	downloads, downloading, downloadedSize, fetchedSize, storedSize           par.Counter
	refusedArchives, stale, sourceFailures, storeFailures                     par.Counter
	removed, removedSize                                                      par.Counter
}

// Stats returns what the server has done.
func (s *Server) Stats() Stats {
	c := &s.counts
	stored, fetched := c.storedSize.Value(), c.fetchedSize.Value()
	return Stats{
		Requests: c.requests.Value(), Documents: c.documents.Value(), Stored: c.stored.Value(), Fetched: c.fetched.Value(), Coalesced: c.coalesced.Value(),
		NotFound: c.notFound.Value(), Failed: c.failed.Value(), Broken: c.broken.Value(),
		Downloads: c.downloads.Value(), Downloading: c.downloading.Value(), DownloadedSize: c.downloadedSize.Value(), ServedSize: stored + fetched, StoredSize: stored, FetchedSize: fetched,
		Refused: c.refusedArchives.Value(), Stale: c.stale.Value(), SourceFailures: c.sourceFailures.Value(), StoreFailures: c.storeFailures.Value(),
		Removed: c.removed.Value(), RemovedSize: c.removedSize.Value(),
	}
}

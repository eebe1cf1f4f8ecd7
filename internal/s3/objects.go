package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Get implements blob.Bucket.
func (b *bucket) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	request := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if opts.IfMatch != "" {
		request.IfMatch = &opts.IfMatch
	}
	part := opts.Offset > 0 || opts.Length > 0
	if part {
		request.Range = aws.String(hosts.RangeOf(opts.Offset, opts.Length))
	}
	answer, err := b.client.GetObject(ctx, request)
	if err != nil {
		return nil, explain(err)
	}
	info := infoOf(key, answer.ContentLength, answer.ETag, answer.LastModified)
	info.ContentType, info.CacheControl = aws.ToString(answer.ContentType), aws.ToString(answer.CacheControl)
	if part {
		if info.Size, err = hosts.SizeIn(aws.ToString(answer.ContentRange), opts.Offset); err != nil {
			answer.Body.Close()
			return nil, err
		}
	}
	return &blob.Object{Body: answer.Body, Info: info}, nil
}

func infoOf(key string, size *int64, tag *string, modified *time.Time) blob.Info {
	return blob.Info{Key: key, Size: aws.ToInt64(size), Tag: aws.ToString(tag), Modified: aws.ToTime(modified)}
}

// Stat implements blob.Bucket.
func (b *bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	answer, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return blob.Info{}, explain(err)
	}
	info := infoOf(key, answer.ContentLength, answer.ETag, answer.LastModified)
	info.ContentType, info.CacheControl = aws.ToString(answer.ContentType), aws.ToString(answer.CacheControl)
	return info, nil
}

// conflicts is how often Put retries after a conflict with a concurrent writer.
const conflicts = 5

// Put implements blob.Bucket. It is one request, so an object has at most 5 GB.
func (b *bucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	for range conflicts {
		if info, err := b.put(ctx, key, content, opts); !isConflict(err) {
			return info, err
		}
	}
	return blob.Info{}, blob.ErrChanged
}

func (b *bucket) put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	request := &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: io.NewSectionReader(content, 0, content.Size()), ContentLength: aws.Int64(content.Size()),
		ContentType: aws.String(cmp.Or(opts.ContentType, "application/octet-stream")),
	}
	if opts.CacheControl != "" {
		request.CacheControl = &opts.CacheControl
	}
	if opts.IfAbsent {
		request.IfNoneMatch = aws.String("*")
	}
	if opts.IfMatch != "" {
		request.IfMatch = &opts.IfMatch
	}
	answer, err := b.client.PutObject(ctx, request)
	if err != nil {
		return blob.Info{}, explain(err)
	}
	return blob.Info{
		Key: key, Size: content.Size(), Tag: aws.ToString(answer.ETag), ContentType: *request.ContentType, CacheControl: opts.CacheControl,
	}, nil
}

// List implements blob.Bucket.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return hosts.List(b.String()+"/"+prefix, func(from string) (all []blob.Info, next string, err error) {
		input := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}
		if from != "" {
			input.ContinuationToken = &from
		}
		page, err := b.client.ListObjectsV2(ctx, input)
		if err != nil {
			return nil, "", explain(err)
		}
		for _, object := range page.Contents {
			all = append(all, infoOf(aws.ToString(object.Key), object.Size, object.ETag, object.LastModified))
		}
		if aws.ToBool(page.IsTruncated) {
			next = aws.ToString(page.NextContinuationToken)
		}
		return all, next, nil
	})
}

// Delete implements blob.Bucket.
func (b *bucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return explain(err)
}

// isConflict reports whether another request for the same object ran at the same time; S3 then
// doesn't evaluate the condition.
func isConflict(err error) bool {
	failed, ok := errors.AsType[smithy.APIError](err)
	return ok && failed.ErrorCode() == "ConditionalRequestConflict"
}

// explain adds the blob error that callers check for to an error of the SDK.
func explain(err error) error {
	if err == nil {
		return nil
	}
	code, status := "", 0
	if failed, ok := errors.AsType[smithy.APIError](err); ok {
		code = failed.ErrorCode()
	}
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		status = answer.HTTPStatusCode()
	}
	switch {
	case code == "NoSuchBucket":
		return withKind(blob.ErrNoBucket, err)
	case code == "NoSuchKey" || status == http.StatusNotFound:
		return withKind(blob.ErrNotFound, err)
	case status == http.StatusPreconditionFailed:
		return blob.ErrChanged
	case status == http.StatusRequestedRangeNotSatisfiable:
		return blob.ErrRange
	case status == http.StatusNotImplemented:
		return withKind(blob.ErrUnsupported, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &getproviders.Fault{Err: withKind(hosts.ErrUnauthorized, err), Hint: "the credentials have to allow s3:GetObject and s3:ListBucket (without that S3 refuses to say that an object isn't there), " +
			"and for publishing s3:PutObject; what is public is read with anonymous=true in the URL"}
	case status == 0 && strings.Contains(err.Error(), "get credentials: ") && !errors.Is(err, context.Canceled): // the SDK has no type for it
		return &getproviders.Fault{Err: withKind(hosts.ErrUnauthorized, err), Hint: "no credentials were found where AWS's programs look for them: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; " +
			"what is public is read with anonymous=true in the URL"}
	}
	if request, ok := errors.AsType[*url.Error](err); ok && status == 0 { // the SDK's text is more about itself than about the request
		return &getproviders.Fault{Kind: blob.ErrUnreachable, Err: request, Hint: "no service answers there: check region and endpoint in the URL, AWS_ENDPOINT_URL_S3, HTTPS_PROXY, and the network of this machine"}
	}
	return err
}

// withKind returns an error that matches kind. Its text has the service's message, or the failed lookup of credentials, without the
// SDK's steps.
func withKind(kind, err error) error {
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("%w (%s)", kind, strings.TrimSuffix(answer.ErrorCode()+": "+answer.ErrorMessage(), ": "+answer.ErrorCode()))
	}
	_, why, _ := strings.Cut(err.Error(), "get credentials: ")
	why, _, _ = strings.Cut(why, ", operation error ")
	return fmt.Errorf("%w (%s)", kind, cmp.Or(why, err.Error()))
}

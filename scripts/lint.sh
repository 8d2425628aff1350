#!/bin/sh
# Every check that needs no run of the program. The linters are built from
# tools/go.mod, which pins them: the first run takes some minutes, later ones
# find them in the build cache.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
tags=realkafka,capture,bench

unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	printf 'not in the form of gofmt:\n%s\n' "$unformatted" >&2
	exit 1
fi
echo "vet"
"$GO" vet ./...
"$GO" vet -tags $tags ./internal/e2e/...
echo "staticcheck"
"$GO" tool -modfile=tools/go.mod staticcheck ./...
"$GO" tool -modfile=tools/go.mod staticcheck -tags $tags ./internal/e2e/...
echo "golangci-lint"
"$GO" tool -modfile=tools/go.mod golangci-lint run ./...
"$GO" tool -modfile=tools/go.mod golangci-lint run --build-tags $tags ./internal/e2e/...
echo "layout"
"$GO" test ./internal/archtest

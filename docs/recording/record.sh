#!/usr/bin/env bash
# Makes init.svg, the recording in README.md: a real run of the program, with a registry on
# this machine that sends packages as large as real ones at 40 MB/s.
#
# Needs Go, asciinema 2 and termtosvg (apt-get install asciinema termtosvg).
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
registry=
finish() {
  exec 9>&- # the registry ends with its standard input
  [[ -z $registry ]] || wait "$registry" || true
  rm -rf "$work"
}
trap finish EXIT

mkdir "$work/bin" "$work/packages" "$work/infra"
go build -ldflags='-s -w' -o "$work/bin/tfdeps" .
go build -o "$work/registry" ./testdata/benchregistry
cp docs/recording/main.tf "$work/infra/"

mkfifo "$work/stdin"
"$work/registry" -dir="$work/packages" -sample="$work/bin/tfdeps" -rate=40000000 -latency=30ms \
  -packages=hashicorp/aws@6.21.0=360,hashicorp/azurerm@4.52.0=230,hashicorp/kubernetes@2.38.0=90,hashicorp/random@3.7.2=15 \
  <"$work/stdin" >"$work/env" &
registry=$!
exec 9>"$work/stdin"
until grep -q '^$' "$work/env"; do sleep 0.2; done

unset "${!TF_@}" "${!TFDEPS_@}"
set -a
while IFS== read -r name value; do [[ -z $name ]] || declare -x "$name=$value"; done <"$work/env"
set +a
export HOME=$work PATH=$work/bin:$PATH TERM=xterm-256color TFDEPS_TERRAFORM_VERSION=1.15.9
script=$PWD/docs/recording/session.sh svg=$PWD/docs/recording/init.svg
cd "$work/infra"
stty cols 100 rows 26 2>/dev/null || true
asciinema rec --quiet --overwrite --cols=100 --rows=26 --idle-time-limit=2 --command="$script" "$work/init.cast"
termtosvg render "$work/init.cast" "$svg" --template=window_frame --loop-delay=4000 --min-frame-duration=80

# The theme has greys and browns for the bright colours, in which bold green can't be read.
for dim in {1..6}; do
  colour=$(sed -n "s/^ *\.color$dim {fill: \(#[0-9a-f]*\)}$/\1/p" "$svg")
  sed -i "s/^\( *\.color$((dim + 8)) {fill: \)#[0-9a-f]*}$/\1$colour}/" "$svg"
done
[[ $(wc -c <"$svg") -lt 200000 ]] || { echo "init.svg is too large for a README" >&2; exit 1; }
! grep -qF "$work" "$svg" || { echo "init.svg has a path of this machine" >&2; exit 1; }

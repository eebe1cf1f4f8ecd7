#!/usr/bin/env bash
# What is recorded: commands as if they were typed, each really run.
set -euo pipefail

type_and_run() {
  local i
  printf '\e[32m$\e[0m '
  sleep 0.6
  for ((i = 0; i < ${#1}; i++)); do
    printf '%s' "${1:i:1}"
    sleep 0.04
  done
  sleep 0.3
  printf '\n'
  eval "$1"
  sleep "$2"
}

clear
type_and_run 'tfdeps init' 3
clear
type_and_run 'tfdeps init >/dev/null' 1.5
type_and_run 'rm -rf .terraform && tfdeps init >/dev/null' 1.5
type_and_run 'tfdeps init -check' 4

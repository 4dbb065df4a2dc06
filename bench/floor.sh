#!/bin/sh
# Measures the floor: the time to transfer the bytes, decompress them and look at each once. Counts the pages of a website with one index.
# Argument: the URL of the index.
for tool in curl zcat grep; do
  command -v $tool >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
export LC_ALL=C
urls=$(curl -s "$1" | grep -o 'http[^<]*\.xml\(\.gz\)\?<' | tr -d '<')
{
  curl -s $(echo "$urls" | grep 'xml$')
  curl -s $(echo "$urls" | grep 'gz$') | zcat
} | grep -c '<loc>' | sed 's/.*/{"pages":&}/'

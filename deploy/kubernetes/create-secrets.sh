#!/bin/sh
# Creates the namespace and the secrets of a trial, with random values, unless they exist:
#   sh create-secrets.sh [NAMESPACE [DATABASE-URL]]
# Prints your token. In production, use your own secret store, and cert-manager for `sluice-tls`.
set -eu
namespace=${1:-sluice}
random() { openssl rand -hex 24; }
exists() { kubectl --namespace "$namespace" get secret "$1" >/dev/null 2>&1; }
secret() { kubectl --namespace "$namespace" create secret "$@"; }

kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace"

if ! exists sluice-database; then
  password=$(random)
  url=${2:-postgres://sluice:$password@postgres.$namespace.svc:5432/sluice}
  secret generic sluice-database --from-literal=password="$password" --from-literal=url="$url"
fi

if ! exists sluice-tokens; then
  me=$(random) worker=$(random) metrics=$(random)
  tokens='[{"name":"me","scopes":["read","run","decide"],"value":"'$me'"},'
  tokens=$tokens'{"name":"fleet","scopes":["worker"],"value":"'$worker'"},'
  tokens=$tokens'{"name":"prometheus","scopes":["read"],"value":"'$metrics'"}]'
  secret generic sluice-tokens --from-literal=tokens.json="$tokens" --from-literal=worker="$worker" \
    --from-literal=metrics="$metrics"
  echo "your token: $me"
fi

if ! exists sluice-tls; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  names="DNS:sluice,DNS:sluice.$namespace,DNS:sluice.$namespace.svc,DNS:localhost,IP:127.0.0.1"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=sluice \
    -addext "subjectAltName=$names" -keyout "$folder/tls.key" -out "$folder/tls.crt" 2>/dev/null
  secret generic sluice-tls --type=kubernetes.io/tls --from-file=tls.crt="$folder/tls.crt" \
    --from-file=tls.key="$folder/tls.key" --from-file=ca.crt="$folder/tls.crt"
fi

#!/bin/sh
# Makes what a shop's containers need and no repository may hold: passwords in .env, the keyring in secrets/.
# Builds the image on the way. What is there already stays as it is.
set -eu
cd "$(dirname "$0")"
umask 077

# Bytes of randomness as hexadecimal digits, which need no escaping in an address.
random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

if [ ! -e .env ]; then
  {
    echo "POSTGRES_PASSWORD=$(random 24)"
    echo "RABBITMQ_PASSWORD=$(random 24)"
    echo "PAYMENTS_HMAC_SECRET=whsec_$(head -c 32 /dev/urandom | base64 | tr -d '\n')"
  } >.env
fi
mkdir -p secrets
if [ ! -e secrets/keyring.toml ]; then
  docker compose --profile prepare run --rm --build keyring
fi

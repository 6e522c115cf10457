# Runs a PostgreSQL server with TLS for tests, until standard input ends; a line there restarts it.
#   postgresql.sh FOLDER PORT CERTIFICATE KEY     prints a line when the server is ready, and after each restart
set -eu
folder=$1 port=$2
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1)

# The server refuses to run as root.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
  fi
  exec "$@"
}

start() {
  (as_server postgres -D "$folder/data" -c port="$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories="$folder" -c ssl=on -c ssl_cert_file=server.pem -c ssl_key_file=server.key \
    -c max_connections=200 -c password_encryption=scram-sha-256 \
    ${SERVER_OPTIONS:--c fsync=off} </dev/null >>"$folder/log" 2>&1) &
  server=$!
  until pg_isready --quiet --host="$folder" --port="$port"; do
    kill -0 "$server"
    sleep 0.05
  done
  echo ready
}

[ "$(id -u)" -ne 0 ] || chown postgres: "$folder"
(as_server initdb --pgdata="$folder/data" --username=gate --auth=trust --no-sync >"$folder/log" 2>&1)
cp "$3" "$folder/data/server.pem"
cp "$4" "$folder/data/server.key"
chmod 600 "$folder/data/server.key"
[ "$(id -u)" -ne 0 ] || chown postgres: "$folder"/data/server.*
cat >"$folder/data/pg_hba.conf" <<END
local all all trust
host all guarded 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
END
start
while read -r _; do
  kill -INT "$server"
  wait "$server" || true
  start
done
kill -QUIT "$server"
wait "$server" || true
rm -rf "$folder"

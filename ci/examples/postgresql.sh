# The commands of the PostgreSQL example: create | serve | ready | load [ROWS] | remove.
set -eu
folder=/tmp/highwater-postgresql-example
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1)

as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
  else
    exec "$@"
  fi
}

cd /
case $1 in
  create)
    rm -rf "$folder"
    mkdir -m 700 "$folder"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$folder"
    as_server initdb --pgdata="$folder/data" --username=gate --auth=trust --no-sync ;;
  serve)
    as_server postgres -D "$folder/data" -c listen_addresses= -c unix_socket_directories="$folder" -c fsync=off ;;
  ready)
    pg_isready --quiet --host="$folder" ;;
  load)
    psql --quiet --host="$folder" --username=gate --dbname=postgres --command="
      CREATE TABLE t AS SELECT i, md5(i::text) AS h FROM generate_series(1, ${2:-200000}) AS i;
      SELECT count(DISTINCT h) FROM t;" ;;
  remove)
    rm -rf "$folder" ;;
esac

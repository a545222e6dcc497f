#!/usr/bin/env bash
# The servers of the integration tests, which nobody of this project wrote: nginx, serving the JSON files of Debian's
# iso-codes over TLS with HTTP/2 and over plain HTTP, and httpbin under gunicorn. Both listen on the loopback alone.
#
#   Scripts/integration-servers.sh start DIR    installs what is missing, starts both, writes DIR/environment
#   Scripts/integration-servers.sh install DIR  only installs what is missing
#   Scripts/integration-servers.sh stop DIR     ends both; DIR stays, for a faster next start
#
#   Scripts/integration-servers.sh start /tmp/servers && . /tmp/servers/environment && swift test
#
# httpbin is installed into the Python environment HTTPBIN_VENV, by default in DIR. Each command may be repeated. Root is
# needed only to install Debian packages.
set -euo pipefail

iso_codes=/usr/share/iso-codes/json
httpbin_version=0.10.2
gunicorn_version=23.0.0

fail() {
    echo "integration-servers: $*" >&2
    exit 1
}

# Runs a command quietly; its output is shown if it fails.
quietly() {
    local log="$dir/command.log"
    "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "failed: $*"; }
}

install_packages() {
    local missing=()
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
    [ -d "$iso_codes" ] || missing+=(iso-codes)
    command -v openssl >/dev/null || missing+=(openssl)
    command -v curl >/dev/null || missing+=(curl)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null || fail "install these first: ${missing[*]}"
    [ "$(id -u)" -eq 0 ] || fail "run as root once, or install these first: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-get -qq update
    # In run level 1 the packages start no service of their own.
    RUNLEVEL=1 quietly apt-get -qq install --no-install-recommends --yes "${missing[@]}"
}

install_httpbin() {
    if "$venv/bin/python" -c 'import httpbin, gunicorn' 2>/dev/null; then return; fi
    quietly python3 -m venv --clear "$venv"
    quietly "$venv/bin/pip" install --quiet "httpbin==$httpbin_version" "gunicorn==$gunicorn_version"
}

# An authority and a certificate for localhost, valid for two days and made anew when an hour is left.
make_certificate() {
    if openssl x509 -checkend 3600 -noout -in "$dir/server.pem" >/dev/null 2>&1; then return; fi
    local new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2)
    quietly openssl req -x509 "${new_key[@]}" -keyout "$dir/authority.key" -out "$dir/authority.pem" \
        -subj "/CN=Runway integration authority" -addext "basicConstraints=critical,CA:TRUE" \
        -addext "keyUsage=critical,keyCertSign"
    quietly openssl req -x509 "${new_key[@]}" -keyout "$dir/server.key" -out "$dir/server.pem" \
        -CA "$dir/authority.pem" -CAkey "$dir/authority.key" -subj "/CN=localhost" \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -addext "basicConstraints=critical,CA:FALSE" \
        -addext "extendedKeyUsage=serverAuth"
    # Whoever trusts the authority trusts this one server, as nobody can sign another.
    rm -f "$dir/authority.key"
}

free_ports() {
    python3 -c '
import socket
sockets = [socket.socket() for _ in range(4)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))'
}

write_nginx_configuration() {
    mkdir -p "$dir/nginx" "$dir/own" "$dir/proxied"
    {
        [ "$(id -u)" -ne 0 ] || echo "user root;"
        cat <<EOF
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/nginx.log;
events { worker_connections 512; }
http {
    access_log off;
    log_format exchange '\$request_method \$request_uri \$status [\$http_range] [\$http_if_none_match] [\$http_if_modified_since]';
    client_body_temp_path $dir/nginx/body;
    proxy_temp_path $dir/nginx/proxy;
    fastcgi_temp_path $dir/nginx/fastcgi;
    uwsgi_temp_path $dir/nginx/uwsgi;
    scgi_temp_path $dir/nginx/scgi;
    types { application/json json; }
    gzip on;
    gzip_types application/json;
    map \$http_range \$own_rate { "" 4k; default 0; }
    ssl_certificate $dir/server.pem;
    ssl_certificate_key $dir/server.key;
    server {
        listen 127.0.0.1:$1 ssl http2;
        listen 127.0.0.1:$2;
        root $iso_codes;
        # For files that the tests make. A whole file is sent slowly enough to be changed or given up while it is sent.
        location /own/ { alias $dir/own/; limit_rate \$own_rate; limit_rate_after 64k; }
        # For files that the tests of the proxy make: each request names the directives of its response, and is on the record.
        location /proxied/ {
            alias $dir/proxied/;
            dav_methods PUT DELETE;
            client_max_body_size 1g;
            # Without gzip_proxied nginx codes nothing for a request that came through a proxy.
            gzip_static on;
            gzip_vary on;
            gzip_proxied any;
            types { text/html html; text/css css; text/javascript js; image/svg+xml svg; audio/wav wav; }
            add_header Cache-Control \$arg_cc;
            add_header Vary \$arg_vary;
            access_log $dir/proxied.log exchange;
        }
        location /proxied/dated/ {
            alias $dir/proxied/;
            etag off;
            add_header Cache-Control \$arg_cc;
            access_log $dir/proxied.log exchange;
        }
        # httpbin as it is below /, reached as its pages reach it.
        location /httpbin/ {
            proxy_pass http://127.0.0.1:$3/;
            client_max_body_size 1g;
            access_log $dir/proxied.log exchange;
        }
    }
    # Before a server of a test, whose port a request names: another Host, fields of its own, bodies whole, the target as it was sent.
    server {
        listen 127.0.0.1:$4;
        proxy_http_version 1.1;
        proxy_set_header Host backend.internal;
        proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto https;
        proxy_set_header X-Forwarded-Host \$http_host;
        location / { proxy_pass http://127.0.0.1:\$http_x_backend_port; }
        # A field of several lines as nginx joins them, before all that the client sent.
        location /v1/fields/joined {
            proxy_set_header X-Forwarded-For \$http_x_forwarded_for;
            proxy_pass http://127.0.0.1:\$http_x_backend_port;
        }
        # The target as nginx understands it: decoded, and without empty segments.
        location ~ ^/v1/echo/normalized/ { proxy_pass http://127.0.0.1:\$http_x_backend_port\$uri\$is_args\$args; }
    }
}
EOF
    } >"$dir/nginx.conf"
}

is_running() {
    local pid
    pid=$(cat "$dir/$1.pid" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

answers() {
    [ -f "$dir/environment" ] || return 1
    (
        . "$dir/environment"
        for url in "$RUNWAY_NGINX/iso_4217.json" "$RUNWAY_NGINX_PLAIN/iso_4217.json" "$RUNWAY_HTTPBIN/get"; do
            curl --silent --fail --noproxy '*' --max-time 30 --cacert "$RUNWAY_NGINX_CA" --output /dev/null "$url" || exit 1
        done
    )
}

launch() {
    local tls_port plain_port httpbin_port signed_port nginx
    read -r tls_port plain_port httpbin_port signed_port < <(free_ports)
    write_nginx_configuration "$tls_port" "$plain_port" "$httpbin_port" "$signed_port"
    nginx=$(command -v nginx || echo /usr/sbin/nginx)
    "$nginx" -e "$dir/nginx.log" -c "$dir/nginx.conf" >>"$dir/nginx.log" 2>&1 || return 1
    "$venv/bin/gunicorn" --daemon --pid "$dir/gunicorn.pid" --log-file "$dir/gunicorn.log" \
        --bind "127.0.0.1:$httpbin_port" --worker-class gthread --threads 16 httpbin:app || return 1
    cat >"$dir/environment" <<EOF
export RUNWAY_NGINX="https://localhost:$tls_port"
export RUNWAY_NGINX_PLAIN="http://localhost:$plain_port"
export RUNWAY_NGINX_CA="$dir/authority.pem"
export RUNWAY_ISO_CODES="$iso_codes"
export RUNWAY_NGINX_OWN="$dir/own"
export RUNWAY_NGINX_PROXIED="$dir/proxied"
export RUNWAY_NGINX_PROXIED_LOG="$dir/proxied.log"
export RUNWAY_NGINX_SIGNED_PORT="$signed_port"
export RUNWAY_HTTPBIN="http://127.0.0.1:$httpbin_port"
EOF
    for _ in $(seq 600); do
        if answers; then return 0; fi
        sleep 0.2
    done
    return 1
}

install() {
    install_packages
    install_httpbin
}

start() {
    install
    if is_running nginx && is_running gunicorn && answers; then return; fi
    # A free port can be taken by somebody else before its server binds it; then another one is tried.
    for _ in 1 2 3; do
        stop
        make_certificate
        if launch; then return; fi
    done
    tail -n 20 "$dir/nginx.log" "$dir/gunicorn.log" >&2 || true
    stop
    fail "the servers did not come up; their logs are above and in $dir"
}

stop() {
    local server pid
    for server in nginx gunicorn; do
        if is_running "$server"; then
            pid=$(cat "$dir/$server.pid")
            kill "$pid"
            for _ in $(seq 50); do
                kill -0 "$pid" 2>/dev/null || break
                sleep 0.1
            done
            if kill -0 "$pid" 2>/dev/null; then kill -KILL "$pid"; fi
        fi
        rm -f "$dir/$server.pid"
    done
    rm -f "$dir/environment"
}

[ $# -eq 2 ] || fail "usage: $0 install|start|stop DIR"
[ "$1" != stop ] || [ -d "$2" ] || exit 0
mkdir -p "$2"
dir=$(cd "$2" && pwd)
venv=${HTTPBIN_VENV:-$dir/venv}
case "$1" in
    install) install ;;
    start) start ;;
    stop) stop ;;
    *) fail "usage: $0 install|start|stop DIR" ;;
esac

# What the scripts with peers begin with: a folder that is removed at the end, processes that end with the script, and reverse proxies with
# their default timeouts. To be sourced, in the folder of the package.
# shellcheck shell=bash

script=$(basename "$0")
folder=$(mktemp -d)
pids=()
# Called by the trap.
# shellcheck disable=SC2317
end() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT

fail() {
    echo "$script: $*" >&2
    exit 1
}

# Sets `python`: $PYTHON, or an interpreter of its own with these packages.
use_python() {
    python=${PYTHON:-}
    if [ -n "$python" ]; then return; fi
    python3 -m venv "$folder/venv"
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$folder/venv/bin/pip" install --quiet "$@"
    python=$folder/venv/bin/python
}

# Waits until something listens on a port.
await() {
    for _ in $(seq 600); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    fail "nothing listens on port $1"
}

# Whether a program is installed.
has() {
    if command -v "$1" >/dev/null; then return; fi
    echo "$script: $1 is not installed: not run with it" >&2
    return 1
}

# A port that is free now.
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Starts nginx on a port before an origin, with further directives for the server and the location.
start_nginx() {
    local port=$1 origin=$2 server=$3 location=$4
    mkdir -p "$folder/nginx"
    cat >"$folder/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $folder/nginx/pid;
error_log $folder/nginx/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $folder/nginx; proxy_temp_path $folder/nginx; fastcgi_temp_path $folder/nginx;
    uwsgi_temp_path $folder/nginx; scgi_temp_path $folder/nginx;
    $server
    server {
        listen 127.0.0.1:$port;
        location / {
            proxy_pass http://127.0.0.1:$origin;
            $location
        }
    }
}
CONF
    nginx -c "$folder/nginx.conf" -e "$folder/nginx/error.log" &
    pids+=($!)
    await "$port"
}

# Starts Caddy on a port before an origin, with a further directive.
start_caddy() {
    printf '{\n\tadmin off\n\tauto_https off\n}\nhttp://127.0.0.1:%s {\n\t%s\n\treverse_proxy 127.0.0.1:%s\n}\n' "$1" "$3" "$2" \
        >"$folder/Caddyfile"
    HOME=$folder caddy run --config "$folder/Caddyfile" --adapter caddyfile >"$folder/caddy.log" 2>&1 &
    pids+=($!)
    await "$1"
}

# Starts HAProxy on a port before an origin, with the timeouts of the configuration that Debian ships, and a further line of the frontend.
start_haproxy() {
    cat >"$folder/haproxy.cfg" <<CONF
defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend front
    bind 127.0.0.1:$1
    $3
    default_backend back
backend back
    server origin 127.0.0.1:$2
CONF
    haproxy -f "$folder/haproxy.cfg" >"$folder/haproxy.log" 2>&1 &
    pids+=($!)
    await "$1"
}

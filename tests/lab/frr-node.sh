#!/bin/bash
# A real FRR router in namespaces of its own, its vtysh on a telnet port.
#
#   frr-node.sh HOSTNAME PREFIX FOLDER [INTERFACES]
#
# The router's eth0, eth1, ... end in host interfaces PREFIX0, PREFIX1, ... for the ports of a GNS3 cloud node. FOLDER
# (absolute) keeps its configuration and logs; a router started again there has its saved configuration.
# Prints "ready PORT" when the console listens. Runs until its standard input ends or SIGTERM, then leaves nothing
# behind; killed outright, the kernel ends what it has started.
#
# Needs root, Debian's frr, iproute2 and util-linux. PYTHON: one that has gns3-server (its telnet server class serves
# the console). FRR_DAEMONS: which to start.
set -euo pipefail

hostname=$1 prefix=$2 folder=$3 interfaces=${4:-2}
python=${PYTHON:-python3}
daemons=${FRR_DAEMONS:-zebra staticd ospfd bgpd}
here=$(dirname "$(readlink -f "$0")")

mkdir -p "$folder/etc"
exec 2>>"$folder/node.log"

clean_up() {
    trap - EXIT TERM INT
    # The kernel would remove them with the network namespace, but some time later.
    for ((i = 0; i < interfaces; i++)); do ip link del "$prefix$i" 2>/dev/null || true; done
    # The first process of the pid namespace takes all others with it.
    kill -KILL ${holder:-} ${console:-} 2>/dev/null || true
    wait
}
trap clean_up EXIT
trap 'exit 0' TERM INT

setpriv --pdeathsig KILL unshare --mount --uts --net --pid --fork --kill-child --mount-proc \
    sleep infinity </dev/null >/dev/null &
holder=$!
init=
until [ -n "$init" ]; do
    kill -0 "$holder"
    sleep 0.02
    init=$(tr -d ' ' <"/proc/$holder/task/$holder/children")
done
# The new namespaces are complete once the process in them has become `sleep`.
until [ "$(cat "/proc/$init/comm")" = sleep ]; do sleep 0.02; done

in_router() { nsenter -t "$init" -m -u -n -p "$@" </dev/null; }

in_router sh -ec "
    hostname '$hostname'
    mount -t tmpfs tmpfs /run
    mkdir -p /run/frr
    mount --bind '$folder/etc' /etc/frr
    ip link set lo up
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"

for ((i = 0; i < interfaces; i++)); do
    ip link add "$prefix$i" type veth peer name "eth$i" netns "$init"
    # The host's own IPv6 chatter has no place on a lab's link.
    echo 1 >"/proc/sys/net/ipv6/conf/$prefix$i/disable_ipv6"
    ip link set "$prefix$i" up
    in_router ip link set "eth$i" up
    in_router "$python" "$here/checksum_offload.py" "eth$i"
done

[ -f "$folder/etc/frr.conf" ] || echo "hostname $hostname" >"$folder/etc/frr.conf"
echo 'service integrated-vtysh-config' >"$folder/etc/vtysh.conf"
in_router chown -R frr:frr /run/frr /etc/frr
for daemon in $daemons; do
    in_router "/usr/lib/frr/$daemon" -d -A 127.0.0.1 --log "file:/run/frr/$daemon.log" >&2
done
in_router vtysh -b >&2 || true # complains about an empty configuration

setpriv --pdeathsig KILL "$python" "$here/telnet_console.py" --namespaces-of "$init" -- vtysh </dev/null &
console=$!

# Wait in the shell's own `read`: a trap would otherwise have to wait for another program.
while read -r _; do :; done

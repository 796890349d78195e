#!/bin/sh
# pack.sh PROGRAM [DIR]: puts the program and the small libraries it needs into DIR (build/gpu), for
# a GPU machine that does not have them. The C library stays the other machine's.
set -e
cd "$(dirname "$0")/../.."
program=$1 dir=${2:-build/gpu}
rm -rf "$dir"
mkdir -p "$dir/lib"
cp "$program" "$dir/mmtutor"
strip -g "$dir/mmtutor" 2>/dev/null || true
launch=$(dirname "$program")/tests/gpu/launch
if [ -x "$launch" ]; then cp "$launch" "$dir/launch"; fi
ldd "$program" | awk '/=> \// {print $1, $3}' | while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | ld-linux*) ;;
    *) cp -L "$path" "$dir/lib/$name" ;;
  esac
done
cat >"$dir/mmtutor.sh" <<'EOF'
#!/bin/sh
# mmtutor with the libraries beside it: for it alone, since others of this machine need their own.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/mmtutor" "$@"
EOF
chmod +x "$dir/mmtutor.sh"
du -sh "$dir"

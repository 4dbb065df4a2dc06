;; Follows paths through a document that were seen before (see xml-paths.ts), sixteen bytes at a time.
;;
;; A node says at which character the text ends that stands here: `<`, a quote, or the `]` of a CDATA section. Its edges say what
;; may follow that text, and which node comes then. `run` goes from node to node and writes each step to the tape: which edge, where
;; its text starts and ends, and what was noticed about it. It stops where no edge fits, and changes nothing else: whatever is
;; not found here is read by the scanner.
;;
;; The memory, in bytes (matcher.ts has the same figures):
;;       0  what `run` leaves: the place, the bytes that are no characters, the node, the reason why it stopped, the end of what
;;          was decoded
;;      64  four origins of 240 bytes: the length, then from 16 on the text
;;    4096  nodes:    +0 the character that ends the text  +4 the first edge
;;          edges:    +0 the next edge of the node  +4 what it looks like  +8 and how long that is  +12 the node it leads to
;;                    +16 its number  +20 what is to be done with the text: 1 must be empty, 2 is a URL, 8 that names the entry, 4 is a date
;;          and what the edges look like
;;   32768  the tape: +0 edge  +4 start  +8 end  +12 flags  +16 +20 fingerprint  +24 +28 where it stands decoded
;;   65536  the document, in UTF-8, with sixteen zeros after it
;;  458752  URLs without their references, one after the other
;; The flags of a text: 1 has a `&`, 2 has control characters, 4 has characters outside of ASCII, 8 starts or ends with something else
;; than a printable character, 16 is a URL of a known origin, 32 each `&` starts `&amp;`, and no other `;` comes after it, 64 is a date,
;; 128 is a URL, but for its origin, which nobody has looked at yet.
(module
  (memory (export "memory") 8)
  ;; Where fingerprints start.
  (global $highStart (export "highStart") (mut i32) (i32.const 0))
  (global $lowStart (export "lowStart") (mut i32) (i32.const 0))
  ;; The end of what was decoded in this run.
  (global $decoded (mut i32) (i32.const 458752))

  ;; From `at` (of the document's bytes up to `end`) and `node`; `shift` is how many bytes before `at` are no characters of their own.
  ;; No text may be longer than `longest`, no URL longer than `longestUrl`. Returns the end of the tape.
  (func (export "run")
    (param $at i32) (param $end i32) (param $shift i32) (param $node i32) (param $longest i32) (param $longestUrl i32)
    (result i32)
    (local $tape i32) (local $p i32) (local $mask i32) (local $below i32) (local $v v128) (local $delimiter v128)
    (local $amps i32) (local $controls i32) (local $others i32) (local $newShift i32) (local $kind i32)
    (local $edge i32) (local $length i32) (local $literal i32) (local $k i32) (local $short i32) (local $flags i32)
    (local $todo i32) (local $reason i32) (local $left i32)
    (local.set $tape (i32.const 32768))
    (global.set $decoded (i32.const 458752))
    (block $stop
      (loop $nodes
        ;; 3: the tape is full.
        (local.set $reason (i32.const 3))
        (br_if $stop (i32.ge_u (local.get $tape) (i32.const 65536)))
        (local.set $kind (i32.load (local.get $node)))
        (local.set $delimiter (i8x16.splat (local.get $kind)))
        (local.set $p (local.get $at))
        (local.set $amps (i32.const 0))
        (local.set $controls (i32.const 0))
        (local.set $others (i32.const 0))
        (local.set $newShift (local.get $shift))
        ;; 2: the document goes on, and has to be there to know more.
        (local.set $reason (i32.const 2))
        ;; The end of the text.
        (block $found
          (loop $search
            (br_if $stop (i32.ge_u (local.get $p) (local.get $end)))
            (local.set $v (v128.load (local.get $p)))
            (local.set $mask (i8x16.bitmask (i8x16.eq (local.get $v) (local.get $delimiter))))
            ;; All bits below the lowest one, or all.
            (local.set $below
              (i32.shr_u
                (i32.xor (local.get $mask) (i32.sub (local.get $mask) (i32.const 1)))
                (i32.const 1)))
            (local.set $amps
              (i32.or
                (local.get $amps)
                (i32.and
                  (local.get $below)
                  (i8x16.bitmask (i8x16.eq (local.get $v) (v128.const i8x16 38 38 38 38 38 38 38 38 38 38 38 38 38 38 38 38))))))
            (local.set $controls
              (i32.or
                (local.get $controls)
                (i32.and
                  (local.get $below)
                  (i8x16.bitmask
                    (v128.or
                      (i8x16.lt_u (local.get $v) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
                      (i8x16.eq (local.get $v) (v128.const i8x16 127 127 127 127 127 127 127 127 127 127 127 127 127 127 127 127)))))))
            (if (i32.and (local.get $below) (i8x16.bitmask (local.get $v)))
              (then
                (local.set $others (i32.const 1))
                (local.set $newShift
                  (i32.add (local.get $newShift) (call $surplus (local.get $v) (local.get $below))))))
            (if (local.get $mask)
              (then
                (local.set $p (i32.add (local.get $p) (i32.ctz (local.get $mask))))
                (br_if $found (i32.ne (local.get $kind) (i32.const 93)))
                ;; A CDATA section ends at `]]>`, not at every `]`.
                (br_if $stop (i32.gt_u (i32.add (local.get $p) (i32.const 3)) (local.get $end)))
                (br_if $found
                  (i32.eq
                    (i32.and (i32.load (local.get $p)) (i32.const 0xffffff))
                    (i32.const 0x3e5d5d)))
                (local.set $p (i32.add (local.get $p) (i32.const 1)))
                (br $search)))
            (local.set $p (i32.add (local.get $p) (i32.const 16)))
            (br $search)))
        (br_if $stop (i32.ge_u (local.get $p) (local.get $end)))

        ;; The edge that fits.
        (local.set $short (i32.const 0))
        (local.set $edge (i32.load offset=4 (local.get $node)))
        (block $fits
          (loop $edges
            (if (i32.eqz (local.get $edge))
              (then
                ;; 1: nothing fits.
                (local.set $reason (i32.add (i32.const 1) (local.get $short)))
                (br $stop)))
            (block $differs
              (local.set $todo (i32.load offset=20 (local.get $edge)))
              (br_if $differs
                (i32.and
                  (i32.and (local.get $todo) (i32.const 1))
                  (i32.ne (local.get $p) (local.get $at))))
              (local.set $length (i32.load offset=8 (local.get $edge)))
              (local.set $literal (i32.load offset=4 (local.get $edge)))
              ;; As much of it as is there.
              (local.set $left (i32.sub (local.get $end) (local.get $p)))
              (if (i32.gt_u (local.get $left) (local.get $length))
                (then (local.set $left (local.get $length))))
              (local.set $k (i32.const 0))
              (loop $compare
                (local.set $mask
                  (i8x16.bitmask
                    (i8x16.eq
                      (v128.load (i32.add (local.get $p) (local.get $k)))
                      (v128.load (i32.add (local.get $literal) (local.get $k))))))
                (if (i32.le_u (local.get $left) (i32.add (local.get $k) (i32.const 16)))
                  (then
                    ;; What comes after the end of it may differ.
                    (br_if $differs
                      (i32.shl
                        (i32.xor (local.get $mask) (i32.const 0xffff))
                        (i32.sub (i32.const 32) (i32.sub (local.get $left) (local.get $k)))))
                    (br_if $fits (i32.eq (local.get $left) (local.get $length)))
                    (local.set $short (i32.const 1))
                    (br $differs)))
                (br_if $differs (i32.ne (local.get $mask) (i32.const 0xffff)))
                (local.set $k (i32.add (local.get $k) (i32.const 16)))
                (br $compare)))
            (local.set $edge (i32.load (local.get $edge)))
            (br $edges)))
        (local.set $reason (i32.const 1))
        (br_if $stop (i32.gt_u (i32.sub (local.get $p) (local.get $at)) (local.get $longest)))

        ;; One step on the tape.
        (i32.store (local.get $tape) (i32.load offset=16 (local.get $edge)))
        (i32.store offset=4 (local.get $tape) (i32.sub (local.get $at) (i32.add (local.get $shift) (i32.const 65536))))
        (i32.store offset=8 (local.get $tape) (i32.sub (local.get $p) (i32.add (local.get $newShift) (i32.const 65536))))
        (local.set $flags
          (i32.or
            (i32.or (i32.ne (local.get $amps) (i32.const 0)) (i32.shl (local.get $others) (i32.const 2)))
            (i32.shl (i32.ne (local.get $controls) (i32.const 0)) (i32.const 1))))
        (if (i32.ne (local.get $p) (local.get $at))
          (then
            (if
              (i32.or
                (i32.gt_u (i32.sub (i32.load8_u (local.get $at)) (i32.const 33)) (i32.const 93))
                (i32.gt_u
                  (i32.sub (i32.load8_u (i32.sub (local.get $p) (i32.const 1))) (i32.const 33))
                  (i32.const 93)))
              (then (local.set $flags (i32.or (local.get $flags) (i32.const 8)))))
            ;; Neither control characters, nor others, nor white space.
            (if (i32.eqz (i32.and (local.get $flags) (i32.const 14)))
              (then
                (if (i32.and (local.get $todo) (i32.const 2))
                  (then
                    (if (i32.le_u (i32.sub (local.get $p) (local.get $at)) (local.get $longestUrl))
                      (then
                        (local.set $flags
                          (i32.or
                            (local.get $flags)
                            (call $url
                              (local.get $at)
                              (local.get $p)
                              (local.get $flags)
                              (i32.and (local.get $todo) (i32.const 8))
                              (local.get $tape))))))))
                (if (i32.and (local.get $todo) (i32.const 4))
                  (then
                    (if (call $isDate (local.get $at) (i32.sub (local.get $p) (local.get $at)))
                      (then (local.set $flags (i32.or (local.get $flags) (i32.const 64)))))))))))
        (i32.store offset=12 (local.get $tape) (local.get $flags))
        (local.set $tape (i32.add (local.get $tape) (i32.const 32)))
        (local.set $at (i32.add (local.get $p) (local.get $length)))
        (local.set $shift (local.get $newShift))
        (local.set $node (i32.load offset=12 (local.get $edge)))
        (br $nodes)))
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $shift))
    (i32.store (i32.const 8) (local.get $node))
    (i32.store (i32.const 12) (local.get $reason))
    (i32.store (i32.const 16) (global.get $decoded))
    (local.get $tape))

  ;; How many bytes more than UTF-16 units these are: a unit for each byte that starts a character, and two for those of four bytes.
  (func $surplus (param $v v128) (param $which i32) (result i32)
    (i32.sub
      (i32.popcnt
        (i32.and
          (local.get $which)
          (i8x16.bitmask (i8x16.lt_s (local.get $v) (v128.const i8x16 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64 -64)))))
      (i32.popcnt
        (i32.and
          (local.get $which)
          (i8x16.bitmask (i8x16.ge_u (local.get $v) (v128.const i8x16 240 240 240 240 240 240 240 240 240 240 240 240 240 240 240 240)))))))

  ;; What there is to say about a URL; its fingerprint and its references go to the tape.
  (func $url (param $start i32) (param $end i32) (param $flags i32) (param $isKey i32) (param $tape i32) (result i32)
    (local $result i32) (local $length i32)
    (local.set $result (select (i32.const 16) (i32.const 128) (call $isKnown (local.get $start))))
    (local.set $length (i32.sub (local.get $end) (local.get $start)))
    (if (i32.and (local.get $flags) (i32.const 1))
      (then
        (local.set $length (call $decode (local.get $start) (local.get $end) (local.get $tape)))
        (if (i32.eqz (local.get $length)) (then (return (i32.const 0))))
        (local.set $start (i32.sub (global.get $decoded) (local.get $length)))
        (local.set $result (i32.or (local.get $result) (i32.const 32)))))
    (if (local.get $isKey)
      (then (call $fingerprint (local.get $start) (local.get $length) (local.get $tape))))
    (local.get $result))

  ;; 16 where an origin that is known stands here.
  (func $isKnown (param $start i32) (result i32)
    (local $origin i32) (local $length i32) (local $k i32) (local $mask i32)
    (local.set $origin (i32.const 64))
    (loop $origins
      (block $differs
        (local.set $length (i32.load (local.get $origin)))
        (br_if $differs (i32.eqz (local.get $length)))
        (local.set $k (i32.const 0))
        (loop $compare
          (local.set $mask
            (i8x16.bitmask
              (i8x16.eq
                (v128.load (i32.add (local.get $start) (local.get $k)))
                (v128.load offset=16 (i32.add (local.get $origin) (local.get $k))))))
          (if (i32.le_u (local.get $length) (i32.add (local.get $k) (i32.const 16)))
            (then
              (br_if $differs
                (i32.shl
                  (i32.xor (local.get $mask) (i32.const 0xffff))
                  (i32.sub (i32.const 32) (i32.sub (local.get $length) (local.get $k)))))
              (return (i32.const 16))))
          (br_if $differs (i32.ne (local.get $mask) (i32.const 0xffff)))
          (local.set $k (i32.add (local.get $k) (i32.const 16)))
          (br $compare)))
      (local.set $origin (i32.add (local.get $origin) (i32.const 240)))
      (br_if $origins (i32.lt_u (local.get $origin) (i32.const 1024))))
    (i32.const 0))

  ;; Appends the text to the decoded ones, with `&` for each `&amp;`; where it is goes to the tape. Its length, or 0 where there are
  ;; other references, or may be, or no room.
  (func $decode (param $p i32) (param $end i32) (param $tape i32) (result i32)
    (local $out i32) (local $v v128) (local $mask i32) (local $n i32) (local $left i32) (local $isAfterFirst i32)
    (local.set $out (global.get $decoded))
    (if
      (i32.gt_u
        (i32.add (local.get $out) (i32.sub (local.get $end) (local.get $p)))
        (i32.const 524256))
      (then (return (i32.const 0))))
    (block $done
      (loop $pieces
        (local.set $left (i32.sub (local.get $end) (local.get $p)))
        (local.set $v (v128.load (local.get $p)))
        (v128.store (local.get $out) (local.get $v))
        (local.set $mask
          (i8x16.bitmask
            (v128.or
              (i8x16.eq (local.get $v) (v128.const i8x16 38 38 38 38 38 38 38 38 38 38 38 38 38 38 38 38))
              (i8x16.eq (local.get $v) (v128.const i8x16 59 59 59 59 59 59 59 59 59 59 59 59 59 59 59 59)))))
        (local.set $n (i32.ctz (i32.or (local.get $mask) (i32.const 0x10000))))
        (if (i32.ge_u (local.get $n) (local.get $left))
          (then
            (local.set $out (i32.add (local.get $out) (local.get $left)))
            (br $done)))
        (local.set $p (i32.add (local.get $p) (local.get $n)))
        (local.set $out (i32.add (local.get $out) (local.get $n)))
        (br_if $pieces (i32.eq (local.get $n) (i32.const 16)))
        ;; A `;` before the first reference is none of our business; after it, it may end one that was escaped twice.
        (if (i32.eq (i32.load8_u (local.get $p)) (i32.const 59))
          (then
            (if (local.get $isAfterFirst) (then (return (i32.const 0))))
            (local.set $p (i32.add (local.get $p) (i32.const 1)))
            (local.set $out (i32.add (local.get $out) (i32.const 1)))
            (br $pieces)))
        (if (i32.ne (i32.load offset=1 (local.get $p)) (i32.const 0x3b706d61)) (then (return (i32.const 0))))
        (local.set $isAfterFirst (i32.const 1))
        (local.set $p (i32.add (local.get $p) (i32.const 5)))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))
        (br $pieces)))
    (i32.store offset=24 (local.get $tape) (i32.sub (global.get $decoded) (i32.const 458752)))
    (i32.store offset=28 (local.get $tape) (i32.sub (local.get $out) (i32.const 458752)))
    (i32.sub (local.get $out) (global.get $decoded))
    (global.set $decoded (local.get $out)))

  ;; The same as FingerprintReader of fingerprints.ts makes.
  (func $fingerprint (param $p i32) (param $length i32) (param $tape i32)
    (local $high i32) (local $low i32) (local $word i32) (local $last i32) (local $bits i32)
    (local.set $high (i32.xor (global.get $highStart) (local.get $length)))
    (local.set $low (global.get $lowStart))
    (local.set $last (i32.add (local.get $p) (i32.and (local.get $length) (i32.const -4))))
    (block $done
      (loop $words
        (if (i32.lt_u (local.get $p) (local.get $last))
          (then (local.set $word (i32.load (local.get $p))))
          (else
            (local.set $bits (i32.shl (i32.and (local.get $length) (i32.const 3)) (i32.const 3)))
            (br_if $done (i32.eqz (local.get $bits)))
            (br_if $done (i32.gt_u (local.get $p) (local.get $last)))
            ;; Spaces fill the last word.
            (local.set $word
              (i32.or
                (i32.and
                  (i32.load (local.get $p))
                  (i32.sub (i32.shl (i32.const 1) (local.get $bits)) (i32.const 1)))
                (i32.shl (i32.const 0x20202020) (local.get $bits))))))
        (local.set $high (i32.mul (i32.xor (local.get $high) (local.get $word)) (i32.const 0x9e3779b1)))
        (local.set $high (i32.xor (local.get $high) (i32.shr_u (local.get $high) (i32.const 15))))
        (local.set $low (i32.mul (i32.xor (local.get $low) (local.get $word)) (i32.const 0x5f356495)))
        (local.set $low (i32.xor (local.get $low) (i32.shr_u (local.get $low) (i32.const 13))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (br $words)))
    (i32.store offset=16 (local.get $tape) (local.get $high))
    (i32.store offset=20 (local.get $tape) (local.get $low)))

  ;; YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss and Z or an offset; not on the last day of February in a leap year.
  (func $isDate (param $p i32) (param $length i32) (result i32)
    (local $v v128) (local $digits v128) (local $pairs v128) (local $zeros i32) (local $month i32) (local $hasTime i32) (local $last i32)
    (if (i32.lt_u (local.get $length) (i32.const 10)) (then (return (i32.const 0))))
    (local.set $hasTime (i32.ne (local.get $length) (i32.const 10)))
    ;; Up to the minutes. A bit for each character: where the digits are, and where the others.
    (local.set $v (v128.load (local.get $p)))
    (local.set $digits (i8x16.sub (local.get $v) (i8x16.splat (i32.const 48))))
    (if
      (i32.ne
        (i32.and
          (i8x16.bitmask (i8x16.lt_u (local.get $digits) (i8x16.splat (i32.const 10))))
          (select (i32.const 0xdb6f) (i32.const 0x036f) (local.get $hasTime)))
        (select (i32.const 0xdb6f) (i32.const 0x036f) (local.get $hasTime)))
      (then (return (i32.const 0))))
    (if
      (i32.ne
        (i32.and
          (i8x16.bitmask (i8x16.eq (local.get $v) (v128.const i8x16 0 0 0 0 45 0 0 45 0 0 84 0 0 58 0 0)))
          (select (i32.const 0x2490) (i32.const 0x0090) (local.get $hasTime)))
        (select (i32.const 0x2490) (i32.const 0x0090) (local.get $hasTime)))
      (then (return (i32.const 0))))
    ;; Century, year, month, day, hour and minute, a byte each.
    (local.set $pairs
      (call $numbers
        (i8x16.swizzle (local.get $digits) (v128.const i8x16 0 2 5 8 11 14 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))
        (i8x16.swizzle (local.get $digits) (v128.const i8x16 1 3 6 9 12 15 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))))
    (if
      (i32.and
        (i8x16.bitmask (i8x16.gt_u (local.get $pairs) (v128.const i8x16 99 99 12 31 23 59 0 0 0 0 0 0 0 0 0 0)))
        (select (i32.const 0x3f) (i32.const 0x0f) (local.get $hasTime)))
      (then (return (i32.const 0))))
    ;; No month 0, no day 0, no year 0.
    (local.set $zeros (i8x16.bitmask (i8x16.eq (local.get $pairs) (v128.const i64x2 0 0))))
    (if
      (i32.or
        (i32.and (local.get $zeros) (i32.const 12))
        (i32.eq (i32.and (local.get $zeros) (i32.const 3)) (i32.const 3)))
      (then (return (i32.const 0))))
    ;; February is taken to have 28 days. Until July the odd months have 31, from August on the even ones.
    (local.set $month (i8x16.extract_lane_u 2 (local.get $pairs)))
    (if
      (i32.gt_u
        (i8x16.extract_lane_u 3 (local.get $pairs))
        (select
          (i32.const 28)
          (i32.add
            (i32.const 30)
            (i32.and (i32.xor (local.get $month) (i32.shr_u (local.get $month) (i32.const 3))) (i32.const 1)))
          (i32.eq (local.get $month) (i32.const 2))))
      (then (return (i32.const 0))))
    (if (i32.eqz (local.get $hasTime)) (then (return (i32.const 1))))

    ;; The seconds and the offset.
    (if (i32.lt_u (local.get $length) (i32.const 20)) (then (return (i32.const 0))))
    (local.set $v (v128.load offset=16 (local.get $p)))
    (local.set $digits (i8x16.sub (local.get $v) (i8x16.splat (i32.const 48))))
    (local.set $pairs
      (call $numbers
        (i8x16.swizzle (local.get $digits) (v128.const i8x16 1 4 7 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))
        (i8x16.swizzle (local.get $digits) (v128.const i8x16 2 5 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1))))
    (local.set $last (i32.load8_u offset=19 (local.get $p)))
    (if (i32.eq (local.get $last) (i32.const 90))
      (then
        (return
          (i32.and
            (i32.eq (local.get $length) (i32.const 20))
            (call $fits (local.get $v) (local.get $digits) (local.get $pairs) (i32.const 0x006) (i32.const 0x01) (i32.const 1))))))
    (if
      (i32.and (i32.ne (local.get $last) (i32.const 43)) (i32.ne (local.get $last) (i32.const 45)))
      (then (return (i32.const 0))))
    (i32.and
      (i32.eq (local.get $length) (i32.const 25))
      (call $fits (local.get $v) (local.get $digits) (local.get $pairs) (i32.const 0x1b6) (i32.const 0x41) (i32.const 7))))

  ;; Numbers of two digits.
  (func $numbers (param $tens v128) (param $ones v128) (result v128)
    (i8x16.add
      (local.get $ones)
      (i8x16.add (i8x16.shl (local.get $tens) (i32.const 3)) (i8x16.shl (local.get $tens) (i32.const 1)))))

  ;; Whether there are digits and colons at these places, and seconds, hours and minutes are not too large.
  (func $fits
    (param $v v128) (param $digits v128) (param $pairs v128) (param $whereDigits i32) (param $whereColons i32) (param $which i32)
    (result i32)
    (i32.and
      (i32.and
        (i32.eq
          (i32.and
            (i8x16.bitmask (i8x16.lt_u (local.get $digits) (i8x16.splat (i32.const 10))))
            (local.get $whereDigits))
          (local.get $whereDigits))
        (i32.eq
          (i32.and
            (i8x16.bitmask (i8x16.eq (local.get $v) (i8x16.splat (i32.const 58))))
            (local.get $whereColons))
          (local.get $whereColons)))
      (i32.eqz
        (i32.and
          (i8x16.bitmask (i8x16.gt_u (local.get $pairs) (v128.const i8x16 59 23 59 0 0 0 0 0 0 0 0 0 0 0 0 0)))
          (local.get $which)))))

  ;; The byte at which so many more UTF-16 units are behind `p`. It is where a character begins.
  (func (export "seek") (param $p i32) (param $units i32) (result i32)
    (local $byte i32)
    (loop $characters
      (if (i32.gt_s (local.get $units) (i32.const 0))
        (then
          (local.set $byte (i32.load8_u (local.get $p)))
          (local.set $units (i32.sub (local.get $units) (i32.const 1)))
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (if (i32.ge_u (local.get $byte) (i32.const 192))
            (then (local.set $p (i32.add (local.get $p) (i32.const 1)))))
          (if (i32.ge_u (local.get $byte) (i32.const 224))
            (then (local.set $p (i32.add (local.get $p) (i32.const 1)))))
          (if (i32.ge_u (local.get $byte) (i32.const 240))
            (then
              (local.set $p (i32.add (local.get $p) (i32.const 1)))
              (local.set $units (i32.sub (local.get $units) (i32.const 1)))))
          (br $characters))))
    (local.get $p))

  ;; How many line ends there are.
  (func (export "lineEnds") (param $p i32) (param $end i32) (result i32)
    (local $count i32) (local $mask i32)
    (loop $pieces
      (if (i32.lt_u (local.get $p) (local.get $end))
        (then
          (local.set $mask
            (i8x16.bitmask
              (i8x16.eq
                (v128.load (local.get $p))
                (v128.const i8x16 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10))))
          (if (i32.lt_u (i32.sub (local.get $end) (local.get $p)) (i32.const 16))
            (then
              (local.set $mask
                (i32.and
                  (local.get $mask)
                  (i32.sub (i32.shl (i32.const 1) (i32.sub (local.get $end) (local.get $p))) (i32.const 1))))))
          (local.set $count (i32.add (local.get $count) (i32.popcnt (local.get $mask))))
          (local.set $p (i32.add (local.get $p) (i32.const 16)))
          (br $pieces))))
    (local.get $count)))

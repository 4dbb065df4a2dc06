;; Follows paths through a document that were seen before (see paths.ts), sixteen bytes at a time.
;;
;; A node says at which character the text ends that stands here: `<`, a quote, or the `]` of a CDATA section. Its edges say what
;; may follow that text, and which node comes then. `run` goes from node to node and writes each step to the trace: which edge, where
;; its text starts and ends, and what was noticed about it. Wanted texts are written to one of two lists, as JSON. It stops where no
;; edge fits, and changes nothing else: whatever is not found here is read by the scanner.
;;
;; Names in braces are numbers of layout.ts, which also says what is where in the memory; `{bytes 38}` is a vector of sixteen.
(module
  (memory (export "memory") {pages})
  ;; Where fingerprints start.
  (global $highStart (export "highStart") (mut i32) (i32.const 0))
  (global $lowStart (export "lowStart") (mut i32) (i32.const 0))
  ;; Which of the two places of a word is given away next.
  (global $nextWay (mut i32) (i32.const 0))
  ;; The ends of both lists of texts.
  (global $narrow (mut i32) (i32.const 0))
  (global $wide (mut i32) (i32.const 0))

  ;; From `at` (of the document's bytes up to `end`) and `node`. No text may be longer than `longest` bytes, no URL longer than
  ;; `longestUrl`. Returns the end of the trace.
  (func (export "run")
    (param $at i32) (param $end i32) (param $node i32) (param $longest i32) (param $longestUrl i32)
    (result i32)
    (local $step i32) (local $p i32) (local $mask i32) (local $below i32) (local $v v128) (local $delimiter v128)
    (local $amps i32) (local $controls i32) (local $others i32) (local $lost i32) (local $kind i32)
    (local $edge i32) (local $before i32) (local $length i32) (local $literal i32) (local $k i32) (local $short i32)
    (local $flags i32) (local $task i32) (local $reason i32) (local $left i32)
    (local.set $step (i32.const {traceStart}))
    (i32.store8 (i32.const {narrowStart}) (i32.const 91))
    (i32.store8 (i32.const {wideStart}) (i32.const 91))
    (global.set $narrow (i32.add (i32.const {narrowStart}) (i32.const 1)))
    (global.set $wide (i32.add (i32.const {wideStart}) (i32.const 1)))
    (block $stop
      (loop $nodes
        (local.set $reason (i32.const {needsRoom}))
        (br_if $stop (i32.gt_u (i32.add (local.get $step) (i32.const {stepSize})) (i32.const {traceEnd})))
        (local.set $kind (i32.load offset={nodeDelimiter} (local.get $node)))
        (local.set $delimiter (i8x16.splat (local.get $kind)))
        (local.set $p (local.get $at))
        (local.set $amps (i32.const 0))
        (local.set $controls (i32.const 0))
        (local.set $others (i32.const 0))
        (local.set $lost (i32.const 0))
        (local.set $reason (i32.const {needsMore}))
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
                (i32.and (local.get $below) (i8x16.bitmask (i8x16.eq (local.get $v) {bytes 38})))))
            (local.set $controls
              (i32.or
                (local.get $controls)
                (i32.and
                  (local.get $below)
                  (i8x16.bitmask
                    (v128.or (i8x16.lt_u (local.get $v) {bytes 32}) (i8x16.eq (local.get $v) {bytes 127}))))))
            (if (i32.and (local.get $below) (i8x16.bitmask (local.get $v)))
              (then
                (local.set $others (i32.const {isWide}))
                ;; A character that starts with 0xef may be U+FFFD, which stands for bytes that were lost.
                (local.set $lost
                  (i32.or
                    (local.get $lost)
                    (i32.and (local.get $below) (i8x16.bitmask (i8x16.eq (local.get $v) {bytes 239})))))))
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
        (local.set $before (i32.const 0))
        (local.set $edge (i32.load offset={nodeEdge} (local.get $node)))
        (block $fits
          (loop $edges
            (if (i32.eqz (local.get $edge))
              (then
                (local.set $reason (select (i32.const {needsMore}) (i32.const {nothingFits}) (local.get $short)))
                (br $stop)))
            (block $differs
              (local.set $task (i32.load offset={edgeTask} (local.get $edge)))
              (br_if $differs
                (i32.and
                  (i32.and (local.get $task) (i32.const {mustBeEmpty}))
                  (i32.ne (local.get $p) (local.get $at))))
              (local.set $length (i32.load offset={edgeLength} (local.get $edge)))
              (local.set $literal (i32.load offset={edgeLiteral} (local.get $edge)))
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
            (local.set $before (local.get $edge))
            (local.set $edge (i32.load offset={edgeNext} (local.get $edge)))
            (br $edges)))
        ;; The edge that fitted last is tried first the next time.
        (if (local.get $before)
          (then
            (i32.store offset={edgeNext} (local.get $before) (i32.load offset={edgeNext} (local.get $edge)))
            (i32.store offset={edgeNext} (local.get $edge) (i32.load offset={nodeEdge} (local.get $node)))
            (i32.store offset={nodeEdge} (local.get $node) (local.get $edge))))
        (local.set $left (i32.sub (local.get $p) (local.get $at)))
        (local.set $reason (i32.const {nothingFits}))
        (br_if $stop (i32.gt_u (local.get $left) (local.get $longest)))

        ;; What there is to say about the text.
        (local.set $flags
          (i32.or
            (i32.or
              (select (i32.const {hasReferences}) (i32.const 0) (local.get $amps))
              (select (i32.const {hasControls}) (i32.const 0) (local.get $controls)))
            (local.get $others)))
        (if (i32.and (i32.ne (local.get $left) (i32.const 0)) (i32.ne (i32.and (local.get $task) (i32.const {isWanted})) (i32.const 0)))
          (then
            (if (i32.eqz (call $hasRoom (local.get $left) (local.get $flags)))
              (then
                ;; Where there is no room in an empty list either, the scanner has to read it.
                (local.set $reason
                  (select (i32.const {needsRoom}) (i32.const {nothingFits}) (i32.gt_u (local.get $step) (i32.const {traceStart}))))
                (br $stop)))
            (if (call $mayTrim (local.get $at) (local.get $p))
              (then (local.set $flags (i32.or (local.get $flags) (i32.const {hasSpace})))))
            (local.set $flags
              (call $text
                (local.get $at)
                (local.get $p)
                (local.get $flags)
                ;; What may be lost, or is too long, is not looked at as a URL.
                (select
                  (local.get $task)
                  (i32.and (local.get $task) (i32.const {notUrl}))
                  (i32.and (i32.eqz (local.get $lost)) (i32.le_u (local.get $left) (local.get $longestUrl))))
                (local.get $step)))))
        (i32.store offset={stepEdge} (local.get $step) (i32.load offset={edgeNumber} (local.get $edge)))
        (i32.store offset={stepStart} (local.get $step) (local.get $at))
        (i32.store offset={stepEnd} (local.get $step) (local.get $p))
        (i32.store offset={stepFlags} (local.get $step) (local.get $flags))
        (local.set $step (i32.add (local.get $step) (i32.const {stepSize})))
        (local.set $at (i32.add (local.get $p) (local.get $length)))
        (local.set $node (i32.load offset={edgeTarget} (local.get $edge)))
        (br $nodes)))
    ;; `0]`
    (i32.store16 (global.get $narrow) (i32.const 0x5d30))
    (i32.store16 (global.get $wide) (i32.const 0x5d30))
    (i32.store (i32.const {resultNarrow}) (i32.add (global.get $narrow) (i32.const 2)))
    (i32.store (i32.const {resultWide}) (i32.add (global.get $wide) (i32.const 2)))
    (i32.store (i32.const {resultAt}) (local.get $at))
    (i32.store (i32.const {resultNode}) (local.get $node))
    (i32.store (i32.const {resultReason}) (local.get $reason))
    (local.get $step))

  ;; Whether a text of this length fits into its list, whatever has to be escaped in it.
  (func $hasRoom (param $length i32) (param $flags i32) (result i32)
    (i32.le_u
      (i32.add
        (i32.mul
          (local.get $length)
          (select (i32.const 6) (i32.const 2) (i32.and (local.get $flags) (i32.const {hasControls}))))
        (select (global.get $wide) (global.get $narrow) (i32.and (local.get $flags) (i32.const {isWide}))))
      (select
        (i32.const {wideEnd})
        (i32.const {narrowEnd})
        (i32.and (local.get $flags) (i32.const {isWide})))))

  ;; Whether a text may begin or end with white space or something that counts as such: with a character of ASCII that is not
  ;; printable, or one that starts with a byte with which those start.
  (func $mayTrim (param $start i32) (param $end i32) (result i32)
    (local $byte i32)
    (local.set $byte (i32.load8_u (local.get $start)))
    (if (i32.gt_u (i32.sub (local.get $byte) (i32.const 33)) (i32.const 93))
      (then
        (if (i32.lt_u (local.get $byte) (i32.const 128)) (then (return (i32.const 1))))
        (if (call $startsBlank (local.get $byte)) (then (return (i32.const 1))))))
    (local.set $byte (i32.load8_u (i32.sub (local.get $end) (i32.const 1))))
    (if (i32.le_u (i32.sub (local.get $byte) (i32.const 33)) (i32.const 93)) (then (return (i32.const 0))))
    (if (i32.lt_u (local.get $byte) (i32.const 128)) (then (return (i32.const 1))))
    ;; Of two or three bytes.
    (i32.or
      (call $startsBlank (i32.load8_u (i32.sub (local.get $end) (i32.const 2))))
      (call $startsBlank (i32.load8_u (i32.sub (local.get $end) (i32.const 3))))))

  ;; U+0085 and U+00A0; U+1680 and U+180E; U+2000 to U+2060; U+3000; U+FEFF.
  (func $startsBlank (param $byte i32) (result i32)
    (i32.or
      (i32.or (i32.eq (local.get $byte) (i32.const 0xc2)) (i32.eq (local.get $byte) (i32.const 0xef)))
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0xe1)) (i32.const 3))))

  ;; Writes a wanted text to its list, unless it is a known word. Returns the flags, with what was noticed besides.
  (func $text (param $start i32) (param $end i32) (param $flags i32) (param $task i32) (param $step i32) (result i32)
    (local $length i32) (local $out i32)
    (local.set $length (i32.sub (local.get $end) (local.get $start)))
    (if (i32.eqz (i32.and (local.get $flags) (i32.or (i32.const {hasControls}) (i32.const {hasSpace}))))
      (then
        (if (i32.and (local.get $flags) (i32.const {hasReferences}))
          (then
            (if (i32.and (local.get $task) (i32.const {hasMarkup}))
              (then
                (local.set $out (call $decode (local.get $start) (local.get $end)))
                (if (local.get $out)
                  (then
                    (local.set $flags (i32.or (local.get $flags) (i32.const {isDecoded}))))))
              (else
                ;; In a CDATA section a `&` is itself, unless it was escaped before.
                (if (i32.eqz (call $hasSemicolon (local.get $start) (local.get $end)))
                  (then
                    (local.set $flags (i32.and (local.get $flags) (i32.xor (i32.const {hasReferences}) (i32.const -1))))))))
            (if
              (i32.and
                (call $isFree (local.get $task))
                (i32.or (i32.ne (local.get $out) (i32.const 0)) (i32.eqz (i32.and (local.get $flags) (i32.const {hasReferences})))))
              (then (return (i32.or (local.get $flags) (i32.const {isLeftOut}))))))
          (else
            (if (call $isFree (local.get $task)) (then (return (i32.or (local.get $flags) (i32.const {isLeftOut})))))
            (if (i32.and (local.get $task) (i32.const {isDate}))
              (then
                (if (call $isDate (local.get $start) (local.get $length))
                  (then
                    (local.set $flags (i32.or (local.get $flags) (i32.const {isUsualDate})))
                    (if (i32.and (local.get $task) (i32.const {isChecked}))
                      (then (return (i32.or (local.get $flags) (i32.const {isLeftOut})))))))))
            (if
              (i32.and
                (i32.eqz (i32.and (local.get $task) (i32.const {isUrl})))
                (i32.le_u (local.get $length) (i32.const 16)))
              (then
                (local.set $out (call $word (local.get $start) (local.get $length) (local.get $step)))
                (local.set $flags (i32.or (local.get $flags) (local.get $out)))
                (if (i32.eq (local.get $out) (i32.const {isKnownWord})) (then (return (local.get $flags))))
                (local.set $out (i32.const 0))))))
        (if
          (i32.and
            ;; Something may stand behind it that does not belong to it: `]]>`.
            (i32.and
              (i32.ne (i32.and (local.get $task) (i32.const {isUrl})) (i32.const 0))
              (i32.ne (i32.load8_u (i32.sub (local.get $end) (i32.const 1))) (i32.const 62)))
            (i32.or
              (i32.ne (local.get $out) (i32.const 0))
              (i32.eqz (i32.and (local.get $flags) (i32.const {hasReferences})))))
          (then
            (local.set $flags
              (i32.or
                (local.get $flags)
                (select (i32.const {isAccepted}) (i32.const {isUnaccepted}) (call $isKnown (local.get $start)))))
            (if
              (i32.and
                (i32.ne (i32.and (local.get $task) (i32.const {isChecked})) (i32.const 0))
                (i32.ne (i32.and (local.get $flags) (i32.const {isAccepted})) (i32.const 0)))
              (then (return (i32.or (local.get $flags) (i32.const {isLeftOut})))))
            (if (i32.and (local.get $task) (i32.const {isKey}))
              (then
                (if (local.get $out)
                  (then
                    (call $fingerprint (i32.const {scratchStart}) (i32.sub (local.get $out) (i32.const {scratchStart})) (local.get $step)))
                  (else (call $fingerprint (local.get $start) (local.get $length) (local.get $step))))))))))
    (if (local.get $out)
      (then
        (local.set $start (i32.const {scratchStart}))
        (local.set $end (local.get $out))))
    (if (i32.and (local.get $flags) (i32.const {isWide}))
      (then (global.set $wide (call $write (local.get $start) (local.get $end) (global.get $wide))))
      (else (global.set $narrow (call $write (local.get $start) (local.get $end) (global.get $narrow)))))
    (local.get $flags))

  ;; Whether any text will do: no URL, no date, and nobody wants to have it.
  (func $isFree (param $task i32) (result i32)
    (i32.eq
      (i32.and (local.get $task) (i32.or (i32.const {isChecked}) (i32.or (i32.const {isUrl}) (i32.const {isDate}))))
      (i32.const {isChecked})))

  (func $hasSemicolon (param $p i32) (param $end i32) (result i32)
    (loop $pieces
      (if (i32.lt_u
            (i32.ctz (i8x16.bitmask (i8x16.eq (v128.load (local.get $p)) {bytes 59})))
            (i32.sub (local.get $end) (local.get $p)))
        (then
          (if (i8x16.bitmask (i8x16.eq (v128.load (local.get $p)) {bytes 59})) (then (return (i32.const 1))))))
      (local.set $p (i32.add (local.get $p) (i32.const 16)))
      (br_if $pieces (i32.lt_u (local.get $p) (local.get $end))))
    (i32.const 0))

  ;; Writes a text as JSON, and a comma. Returns where that ends.
  (func $write (param $p i32) (param $end i32) (param $out i32) (result i32)
    (local $v v128) (local $n i32) (local $left i32) (local $byte i32)
    (i32.store8 (local.get $out) (i32.const 34))
    (local.set $out (i32.add (local.get $out) (i32.const 1)))
    (block $done
      (loop $pieces
        (local.set $left (i32.sub (local.get $end) (local.get $p)))
        (local.set $v (v128.load (local.get $p)))
        (v128.store (local.get $out) (local.get $v))
        (local.set $n
          (i32.ctz
            (i32.or
              (i32.const 0x10000)
              (i8x16.bitmask
                (v128.or
                  (i8x16.lt_u (local.get $v) {bytes 32})
                  (v128.or (i8x16.eq (local.get $v) {bytes 34}) (i8x16.eq (local.get $v) {bytes 92})))))))
        (if (i32.ge_u (local.get $n) (local.get $left))
          (then
            (local.set $out (i32.add (local.get $out) (local.get $left)))
            (br $done)))
        (local.set $p (i32.add (local.get $p) (local.get $n)))
        (local.set $out (i32.add (local.get $out) (local.get $n)))
        (br_if $pieces (i32.eq (local.get $n) (i32.const 16)))
        (local.set $byte (i32.load8_u (local.get $p)))
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (if (i32.ge_u (local.get $byte) (i32.const 32))
          (then
            (i32.store8 (local.get $out) (i32.const 92))
            (i32.store8 offset=1 (local.get $out) (local.get $byte))
            (local.set $out (i32.add (local.get $out) (i32.const 2))))
          (else
            ;; `\u00`, then two digits of base sixteen.
            (i32.store (local.get $out) (i32.const 0x3030755c))
            (i32.store8 offset=4 (local.get $out) (i32.add (i32.const 48) (i32.shr_u (local.get $byte) (i32.const 4))))
            (local.set $byte (i32.and (local.get $byte) (i32.const 15)))
            (i32.store8 offset=5
              (local.get $out)
              (i32.add
                (local.get $byte)
                (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $byte) (i32.const 10)))))
            (local.set $out (i32.add (local.get $out) (i32.const 6)))))
        (br $pieces)))
    ;; `",`
    (i32.store16 (local.get $out) (i32.const 0x2c22))
    (i32.add (local.get $out) (i32.const 2)))

  ;; Whether a short text is a known word; if not, it becomes one. Which goes to the step. There are two places for each hash.
  (func $word (param $p i32) (param $length i32) (param $step i32) (result i32)
    (local $v v128) (local $hash i64) (local $place i32) (local $address i32)
    (local.set $v
      (v128.and
        (v128.load (local.get $p))
        (i8x16.gt_u
          (i8x16.splat (local.get $length))
          (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15))))
    (local.set $hash
      (i64.mul
        (i64.xor
          (i64x2.extract_lane 0 (local.get $v))
          (i64.rotl (i64x2.extract_lane 1 (local.get $v)) (i64.const 23)))
        (i64.const 0x9e3779b97f4a7c15)))
    (local.set $place
      (i32.and (i32.wrap_i64 (i64.shr_u (local.get $hash) (i64.const 40))) (i32.sub (i32.const {wordCount}) (i32.const 2))))
    (local.set $address (i32.add (i32.const {wordsStart}) (i32.shl (local.get $place) (i32.const 4))))
    (if (v128.any_true (v128.xor (local.get $v) (v128.load (local.get $address))))
      (then
        (if (v128.any_true (v128.xor (local.get $v) (v128.load offset=16 (local.get $address))))
          (then
            ;; They take turns.
            (global.set $nextWay (i32.xor (global.get $nextWay) (i32.const 1)))
            (local.set $place (i32.or (local.get $place) (global.get $nextWay)))
            (i32.store offset={stepWord} (local.get $step) (local.get $place))
            (v128.store (i32.add (i32.const {wordsStart}) (i32.shl (local.get $place) (i32.const 4))) (local.get $v))
            (return (i32.const {isNewWord}))))
        (local.set $place (i32.or (local.get $place) (i32.const 1)))))
    (i32.store offset={stepWord} (local.get $step) (local.get $place))
    (i32.const {isKnownWord}))

  ;; 1 where an origin that is known stands here.
  (func $isKnown (param $start i32) (result i32)
    (local $origin i32) (local $length i32) (local $k i32) (local $mask i32)
    (local.set $origin (i32.const {originsStart}))
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
                (v128.load offset={originText} (i32.add (local.get $origin) (local.get $k))))))
          (if (i32.le_u (local.get $length) (i32.add (local.get $k) (i32.const 16)))
            (then
              (br_if $differs
                (i32.shl
                  (i32.xor (local.get $mask) (i32.const 0xffff))
                  (i32.sub (i32.const 32) (i32.sub (local.get $length) (local.get $k)))))
              (return (i32.const 1))))
          (br_if $differs (i32.ne (local.get $mask) (i32.const 0xffff)))
          (local.set $k (i32.add (local.get $k) (i32.const 16)))
          (br $compare)))
      (local.set $origin (i32.add (local.get $origin) (i32.const {originSize})))
      (br_if $origins (i32.lt_u (local.get $origin) (i32.const {originsEnd}))))
    (i32.const 0))

  ;; Writes the text to the scratch, with `&` for each `&amp;`. Returns where it ends there, or 0 where there are other
  ;; references, or may be, or no room.
  (func $decode (param $p i32) (param $end i32) (result i32)
    (local $out i32) (local $v v128) (local $mask i32) (local $n i32) (local $left i32) (local $isAfterFirst i32)
    (local.set $out (i32.const {scratchStart}))
    (if
      (i32.gt_u (i32.sub (local.get $end) (local.get $p)) (i32.sub (i32.const {scratchEnd}) (i32.const {scratchStart})))
      (then (return (i32.const 0))))
    (block $done
      (loop $pieces
        (local.set $left (i32.sub (local.get $end) (local.get $p)))
        (local.set $v (v128.load (local.get $p)))
        (v128.store (local.get $out) (local.get $v))
        (local.set $mask
          (i8x16.bitmask
            (v128.or (i8x16.eq (local.get $v) {bytes 38}) (i8x16.eq (local.get $v) {bytes 59}))))
        (local.set $n (i32.ctz (i32.or (local.get $mask) (i32.const 0x10000))))
        (if (i32.ge_u (local.get $n) (local.get $left))
          (then
            (local.set $out (i32.add (local.get $out) (local.get $left)))
            (br $done)))
        (local.set $p (i32.add (local.get $p) (local.get $n)))
        (local.set $out (i32.add (local.get $out) (local.get $n)))
        (br_if $pieces (i32.eq (local.get $n) (i32.const 16)))
        ;; A `;` before the first reference ends none; after it, it may end one that was escaped twice.
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
    (local.get $out))

  ;; The same as FingerprintReader of fingerprints.ts makes.
  (func $fingerprint (param $p i32) (param $length i32) (param $step i32)
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
        (local.set $high (i32.mul (i32.xor (local.get $high) (local.get $word)) (i32.const {highFactor})))
        (local.set $high (i32.xor (local.get $high) (i32.shr_u (local.get $high) (i32.const 15))))
        (local.set $low (i32.mul (i32.xor (local.get $low) (local.get $word)) (i32.const {lowFactor})))
        (local.set $low (i32.xor (local.get $low) (i32.shr_u (local.get $low) (i32.const 13))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (br $words)))
    (i32.store offset={stepHigh} (local.get $step) (local.get $high))
    (i32.store offset={stepLow} (local.get $step) (local.get $low)))

  ;; YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss and Z or an offset; not on the last day of February in a leap year, not with -00:00.
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
    ;; No month 0, no day 0, no century 0.
    (local.set $zeros (i8x16.bitmask (i8x16.eq (local.get $pairs) (v128.const i64x2 0 0))))
    (if (i32.and (local.get $zeros) (i32.const 13)) (then (return (i32.const 0))))
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
    (if
      (i32.and
        (i32.eq (local.get $last) (i32.const 45))
        (i32.eq (i32.and (i8x16.bitmask (i8x16.eq (local.get $pairs) (v128.const i64x2 0 0))) (i32.const 6)) (i32.const 6)))
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

  ;; How many line ends there are.
  (func (export "lineEnds") (param $p i32) (param $end i32) (result i32)
    (local $count i32) (local $mask i32) (local $sums v128)
    ;; Each line end is a byte of -1.
    (loop $blocks
      (if (i32.ge_s (i32.sub (local.get $end) (local.get $p)) (i32.const 64))
        (then
          (local.set $sums
            (i32x4.sub
              (local.get $sums)
              (i32x4.extadd_pairwise_i16x8_s
                (i16x8.extadd_pairwise_i8x16_s
                  (i8x16.add
                    (i8x16.add
                      (i8x16.eq (v128.load (local.get $p)) {bytes 10})
                      (i8x16.eq (v128.load offset=16 (local.get $p)) {bytes 10}))
                    (i8x16.add
                      (i8x16.eq (v128.load offset=32 (local.get $p)) {bytes 10})
                      (i8x16.eq (v128.load offset=48 (local.get $p)) {bytes 10})))))))
          (local.set $p (i32.add (local.get $p) (i32.const 64)))
          (br $blocks))))
    (local.set $count
      (i32.add
        (i32.add (i32x4.extract_lane 0 (local.get $sums)) (i32x4.extract_lane 1 (local.get $sums)))
        (i32.add (i32x4.extract_lane 2 (local.get $sums)) (i32x4.extract_lane 3 (local.get $sums)))))
    (loop $pieces
      (if (i32.lt_u (local.get $p) (local.get $end))
        (then
          (local.set $mask
            (i8x16.bitmask
              (i8x16.eq
                (v128.load (local.get $p))
                {bytes 10})))
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

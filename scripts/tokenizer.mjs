// npm run tokenizer: translates src/parse/fast/tokenizer.as.ts, with the numbers of layout.ts, into tokenizer-code.ts beside it. To be run
// after every change of either; a test looks whether it was. It knows the part of AssemblyScript that is used there: integers of 32 and 64
// bits, vectors, functions, loops. What it does not know, it refuses.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseSync } from "rolldown/utils";
import loadWabt from "wabt";

const folder = path.join(import.meta.dirname, "../src/parse/fast");
const wasmTypes = { i32: "i32", bool: "i32", i64: "i64", v128: "v128" };
const operators = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "&": "and",
  "|": "or",
  "^": "xor",
  "<<": "shl",
  ">>": "shr_s",
  ">>>": "shr_u",
};
const comparisons = { "==": "eq", "!=": "ne", "<": "lt_s", ">": "gt_s", "<=": "le_s", ">=": "ge_s" };
// The length of the source of a function that is worth a call.
const longestInlined = 420;

/** What tokenizer-code.ts has to hold. */
export async function translate() {
  const declarations = declarationsOf("tokenizer.as.ts");
  const text = new Translation(declarations).module();
  const module = (await loadWabt()).parseWat("tokenizer.wat", text, { simd: true, bulk_memory: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  return `// Generated from tokenizer.as.ts and layout.ts by \`npm run tokenizer\`.
export const tokenizerCode: string =
  "${code}";
`;
}

function declarationsOf(file) {
  const { program, errors } = parseSync(file, readFileSync(path.join(folder, file), "utf8"));
  if (errors.length > 0) throw new Error(errors[0].message);
  return program.body.flatMap((node) => {
    if (node.type === "ImportDeclaration") return declarationsOf(`${node.source.value.slice(2)}.ts`);
    if (node.type !== "ExportNamedDeclaration") return [node];
    return [{ ...node.declaration, isExported: file === "tokenizer.as.ts" }];
  });
}

class Translation {
  #constants = new Map();
  #globals = new Map();
  #functions = new Map();
  // Of the function that is being translated: its locals, those that are visible, the loops and inlined functions around.
  #locals = [];
  #scopes = [];
  #loops = [];
  #returns = [];
  #labels = 0;

  constructor(declarations) {
    const calls = callsIn(declarations);
    for (const node of declarations) {
      if (node.type === "FunctionDeclaration") {
        const isShort = calls.get(node.id.name) === 1 || node.end - node.start < longestInlined;
        const parameters = node.params.map(({ name, typeAnnotation }) => ({ name, type: typeOf(typeAnnotation) }));
        const isInlined = isShort && !node.isExported;
        this.#functions.set(node.id.name, { node, parameters, result: typeOf(node.returnType), isInlined });
        continue;
      }
      for (const { id, init } of node.declarations) {
        const entry = { type: typeOf(id.typeAnnotation) ?? "i32", init, isExported: node.isExported };
        (node.kind === "const" ? this.#constants : this.#globals).set(id.name, entry);
      }
    }
  }

  module() {
    const globals = [...this.#globals].map(([name, { type, init, isExported }]) => {
      const wasmType = wasmTypes[type];
      return `(global $${name} ${exported(name, isExported)} (mut ${wasmType}) (${wasmType}.const ${this.#number(init)}))`;
    });
    const functions = [...this.#functions].filter(([, { isInlined }]) => !isInlined);
    const memory = `(memory (export "memory") ${this.#number({ type: "Identifier", name: "memoryPages" })})`;
    return `(module ${memory} ${globals.join("\n")} ${functions.map(([name, found]) => this.#function(name, found)).join("\n")})`;
  }

  #function(name, { node, parameters, result }) {
    this.#locals = [];
    this.#scopes = [
      new Map(parameters.map((parameter) => [parameter.name, { id: parameter.name, type: parameter.type }])),
    ];
    const body = this.#block(node.body.body);
    const signature = parameters
      .map((parameter) => `(param $${parameter.name} ${wasmTypes[parameter.type]})`)
      .join(" ");
    const locals = this.#locals.map(({ id, type }) => `(local $${id} ${wasmTypes[type]})`).join(" ");
    const [returned, end] = result === "void" ? ["", ""] : [`(result ${wasmTypes[result]})`, "(unreachable)"];
    return `(func $${name} ${exported(name, node.isExported)} ${signature} ${returned} ${locals} ${body} ${end})`;
  }

  #local(name, type, scope = this.#scopes.at(-1)) {
    const local = { id: `${name}${this.#locals.length}`, type };
    this.#locals.push(local);
    scope.set(name, local);
    return local;
  }

  #find(name) {
    for (const scope of this.#scopes.toReversed()) {
      if (scope.has(name)) return scope.get(name);
      if (scope.isOutermost) return undefined;
    }
    return undefined;
  }

  #block(statements) {
    this.#scopes.push(new Map());
    const code = statements.map((statement) => this.#statement(statement)).join("\n");
    this.#scopes.pop();
    return code;
  }

  #statement(node) {
    switch (node.type) {
      case "BlockStatement":
        return this.#block(node.body);
      case "VariableDeclaration":
        return node.declarations.map(({ id, init }) => {
          const type = typeOf(id.typeAnnotation);
          const { code } = this.#value(init, type);
          return `(local.set $${this.#local(id.name, type).id} ${code})`;
        })[0];
      case "ExpressionStatement":
        return this.#effect(node.expression);
      case "ReturnStatement": {
        const around = this.#returns.at(-1);
        const value = node.argument === null ? "" : this.#value(node.argument, around?.type).code;
        return around === undefined ? `(return ${value})` : `(br $${around.label} ${value})`;
      }
      case "IfStatement": {
        const otherwise = node.alternate === null ? "" : `(else ${this.#statement(node.alternate)})`;
        return `(if ${this.#value(node.test).code} (then ${this.#statement(node.consequent)}) ${otherwise})`;
      }
      case "WhileStatement":
      case "ForStatement":
        return this.#loop(node);
      case "BreakStatement":
        return `(br $end${this.#loops.at(-1)})`;
      case "ContinueStatement":
        return `(br $next${this.#loops.at(-1)})`;
    }
    throw new Error(`unknown statement: ${node.type}`);
  }

  #loop({ init, test, update, body }) {
    const label = this.#labels++;
    this.#scopes.push(new Map());
    this.#loops.push(label);
    const start = init ? this.#statement(init.type === "VariableDeclaration" ? init : statementOf(init)) : "";
    const isEndless = test.value === true;
    const check = isEndless ? "" : `(br_if $end${label} (i32.eqz ${this.#value(test).code}))`;
    const inside = `(block $next${label} ${this.#statement(body)}) ${update ? this.#effect(update) : ""}`;
    this.#loops.pop();
    this.#scopes.pop();
    return `${start} (block $end${label} (loop $loop${label} ${check} ${inside} (br $loop${label})))`;
  }

  #effect(node) {
    if (node.type === "CallExpression") {
      const { type, code } = this.#value(node);
      return type === "void" ? code : `(drop ${code})`;
    }
    const isUpdate = node.type === "UpdateExpression";
    const { name } = isUpdate ? node.argument : node.left;
    const left = { type: "Identifier", name };
    const right = isUpdate ? { type: "Literal", raw: "1" } : node.right;
    const operator = node.operator === "=" ? "" : isUpdate ? node.operator[0] : node.operator.slice(0, -1);
    const local = this.#find(name);
    const { type } = local ?? this.#globals.get(name);
    const value = operator === "" ? right : { type: "BinaryExpression", operator, left, right };
    return `(${local ? `local.set $${local.id}` : `global.set $${name}`} ${this.#value(value, type).code})`;
  }

  // `wanted`: the type of a number.
  #value(node, wanted) {
    switch (node.type) {
      case "Literal": {
        if (typeof node.value === "boolean") return { type: "bool", code: `(i32.const ${Number(node.value)})` };
        const type = wanted === "i64" ? "i64" : "i32";
        return { type, code: `(${type}.const ${node.raw})`, isNumber: true };
      }
      case "Identifier": {
        const local = this.#find(node.name);
        if (local !== undefined) return { type: local.type, code: `(local.get $${local.id})` };
        const global = this.#globals.get(node.name);
        if (global !== undefined) return { type: global.type, code: `(global.get $${node.name})` };
        return { type: "i32", code: `(i32.const ${this.#number(node)})` };
      }
      case "ParenthesizedExpression":
        return this.#value(node.expression, wanted);
      case "TSTypeAssertion": {
        const { type, code } = this.#value(node.expression);
        return { type: "i32", code: type === "i64" ? `(i32.wrap_i64 ${code})` : code };
      }
      case "UnaryExpression": {
        const { type, code } = this.#value(node.argument, wanted);
        if (node.operator === "!") return { type: "bool", code: `(i32.eqz ${code})` };
        const [operator, first] = node.operator === "-" ? ["sub", 0] : ["xor", -1];
        return { type, code: `(i32.${operator} (i32.const ${first}) ${code})` };
      }
      case "LogicalExpression": {
        const [first, second] = [this.#value(node.left).code, this.#value(node.right).code];
        const [yes, no] = node.operator === "&&" ? [second, "(i32.const 0)"] : ["(i32.const 1)", second];
        return { type: "bool", code: `(if (result i32) ${first} (then ${yes}) (else ${no}))` };
      }
      case "ConditionalExpression": {
        const [yes, no] = [this.#value(node.consequent, wanted), this.#value(node.alternate, wanted)];
        const test = this.#value(node.test).code;
        return {
          type: yes.type,
          code: `(if (result ${wasmTypes[yes.type]}) ${test} (then ${yes.code}) (else ${no.code}))`,
        };
      }
      case "BinaryExpression": {
        let [left, right] = [this.#value(node.left), this.#value(node.right)];
        if (left.isNumber) left = this.#value(node.left, right.type);
        if (right.isNumber) right = this.#value(node.right, left.type);
        const comparison = comparisons[node.operator];
        const name = `${wasmTypes[left.type]}.${comparison ?? operators[node.operator]}`;
        return { type: comparison ? "bool" : left.type, code: `(${name} ${left.code} ${right.code})` };
      }
      case "CallExpression":
        return node.callee.type === "Identifier" ? this.#call(node) : this.#instruction(node);
    }
    throw new Error(`unknown expression: ${node.type}`);
  }

  #call({ callee: { name }, arguments: values, typeArguments }) {
    const code = (index, type) => this.#value(values[index], type).code;
    const offset = (index) => (values[index] === undefined ? "" : `offset=${this.#number(values[index])}`);
    const width = { u8: "8", u16: "16", i32: "" }[typeArguments?.params[0].typeName.name];
    if (name === "load") return { type: "i32", code: `(i32.load${width && `${width}_u`} ${offset(1)} ${code(0)})` };
    if (name === "store") return { type: "void", code: `(i32.store${width} ${offset(2)} ${code(0)} ${code(1)})` };
    if (name === "ctz" || name === "popcnt") return { type: "i32", code: `(i32.${name} ${code(0)})` };
    if (name === "i8x16") return { type: "v128", code: `(v128.const i8x16 ${values.map(({ raw }) => raw).join(" ")})` };
    const called = this.#functions.get(name);
    const given = called.parameters.map(({ type }, index) => code(index, type));
    if (!called.isInlined) return { type: called.result, code: `(call $${name} ${given.join(" ")})` };
    return this.#inlined(name, called, given);
  }

  #inlined(name, { node, parameters, result }, given) {
    const scope = Object.assign(new Map(), { isOutermost: true });
    const set = parameters.map(
      (parameter, index) => `(local.set $${this.#local(parameter.name, parameter.type, scope).id} ${given[index]})`,
    );
    const label = `${name}${this.#labels++}`;
    const loops = this.#loops;
    this.#loops = [];
    this.#scopes.push(scope);
    this.#returns.push({ label, type: result });
    const body = this.#block(node.body.body);
    this.#returns.pop();
    this.#scopes.pop();
    this.#loops = loops;
    const [returned, end] = result === "void" ? ["", ""] : [`(result ${wasmTypes[result]})`, "(unreachable)"];
    return { type: result, code: `(block $${label} ${returned} ${set.join(" ")} ${body} ${end})` };
  }

  // `v128.load(p)`, `i8x16.eq(a, b)`.
  #instruction({ callee, arguments: values }) {
    const [type, name] = [callee.object.name, callee.property.name];
    if (name === "splat" && values[0].type !== "Identifier") {
      return { type: "v128", code: `(v128.const i8x16${` ${this.#number(values[0])}`.repeat(16)})` };
    }
    if (name === "extract_lane") {
      return { type: "i64", code: `(${type}.${name} ${this.#number(values[1])} ${this.#value(values[0]).code})` };
    }
    const isOffset = (index) => type === "v128" && index === { load: 1, store: 2 }[name];
    const offset = values.map((value, index) => (isOffset(index) ? `offset=${this.#number(value)}` : "")).join("");
    const codes = values.filter((_, index) => !isOffset(index)).map((value) => this.#value(value).code);
    const hasNoResult = type === "memory" || name === "store";
    const result = { bitmask: "i32", any_true: "bool" }[name] ?? "v128";
    return { type: hasNoResult ? "void" : result, code: `(${type}.${name} ${offset} ${codes.join(" ")})` };
  }

  // A number that is known here.
  #number(node) {
    if (node.type === "Literal") return typeof node.value === "boolean" ? Number(node.value) : node.raw;
    if (node.type === "TSTypeAssertion") return this.#number(node.expression);
    const constant = this.#constants.get(node.name);
    if (constant === undefined) throw new Error(`not a number: ${node.name ?? node.type}`);
    return this.#number(constant.init);
  }
}

function typeOf(annotation) {
  const type = annotation?.typeAnnotation;
  return type?.type === "TSVoidKeyword" ? "void" : type?.typeName.name;
}

function exported(name, isExported) {
  return isExported ? `(export "${name}")` : "";
}

function statementOf(expression) {
  return { type: "ExpressionStatement", expression };
}

// How often each function is called.
function callsIn(declarations) {
  const calls = new Map();
  JSON.stringify(declarations, (_, node) => {
    if (node?.type === "CallExpression") calls.set(node.callee.name, (calls.get(node.callee.name) ?? 0) + 1);
    return node;
  });
  return calls;
}

if (process.argv[1] === import.meta.filename) writeFileSync(path.join(folder, "tokenizer-code.ts"), await translate());

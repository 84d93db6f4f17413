package pyvalue

import "fmt"

const maxProtocol = 5

// opcode is an instruction of a pickle.
type opcode byte

// The instructions that are read, named as in Python's pickletools.
const (
	opProto           opcode = 0x80
	opFrame           opcode = 0x95
	opStop            opcode = '.'
	opMark            opcode = '('
	opPop             opcode = '0'
	opPopMark         opcode = '1'
	opNone            opcode = 'N'
	opNewTrue         opcode = 0x88
	opNewFalse        opcode = 0x89
	opBinInt          opcode = 'J'
	opBinInt1         opcode = 'K'
	opBinInt2         opcode = 'M'
	opLong1           opcode = 0x8a
	opLong4           opcode = 0x8b
	opBinFloat        opcode = 'G'
	opBinUnicode      opcode = 'X'
	opShortBinUnicode opcode = 0x8c
	opBinUnicode8     opcode = 0x8d
	opBinBytes        opcode = 'B'
	opShortBinBytes   opcode = 'C'
	opBinBytes8       opcode = 0x8e
	opEmptyTuple      opcode = ')'
	opTuple           opcode = 't'
	opTuple1          opcode = 0x85
	opTuple2          opcode = 0x86
	opTuple3          opcode = 0x87
	opEmptyList       opcode = ']'
	opList            opcode = 'l'
	opAppend          opcode = 'a'
	opAppends         opcode = 'e'
	opEmptyDict       opcode = '}'
	opDict            opcode = 'd'
	opSetItem         opcode = 's'
	opSetItems        opcode = 'u'
	opEmptySet        opcode = 0x8f
	opAddItems        opcode = 0x90
	opFrozenSet       opcode = 0x91
	opGlobal          opcode = 'c'
	opStackGlobal     opcode = 0x93
	opNewObj          opcode = 0x81
	opNewObjEx        opcode = 0x92
	opReduce          opcode = 'R'
	opBuild           opcode = 'b'
	opBinPersID       opcode = 'Q'
	opBinPut          opcode = 'q'
	opLongBinPut      opcode = 'r'
	opBinGet          opcode = 'h'
	opLongBinGet      opcode = 'j'
	opMemoize         opcode = 0x94
)

// opcodeNames includes the instructions that are refused, for errors.
var opcodeNames = map[opcode]string{
	opProto: "PROTO", opFrame: "FRAME", opStop: "STOP", opMark: "MARK", opPop: "POP", opPopMark: "POP_MARK",
	opNone: "NONE", opNewTrue: "NEWTRUE", opNewFalse: "NEWFALSE",
	opBinInt: "BININT", opBinInt1: "BININT1", opBinInt2: "BININT2", opLong1: "LONG1", opLong4: "LONG4", opBinFloat: "BINFLOAT",
	opBinUnicode: "BINUNICODE", opShortBinUnicode: "SHORT_BINUNICODE", opBinUnicode8: "BINUNICODE8",
	opBinBytes: "BINBYTES", opShortBinBytes: "SHORT_BINBYTES", opBinBytes8: "BINBYTES8",
	opEmptyTuple: "EMPTY_TUPLE", opTuple: "TUPLE", opTuple1: "TUPLE1", opTuple2: "TUPLE2", opTuple3: "TUPLE3",
	opEmptyList: "EMPTY_LIST", opList: "LIST", opAppend: "APPEND", opAppends: "APPENDS",
	opEmptyDict: "EMPTY_DICT", opDict: "DICT", opSetItem: "SETITEM", opSetItems: "SETITEMS",
	opEmptySet: "EMPTY_SET", opAddItems: "ADDITEMS", opFrozenSet: "FROZENSET",
	opGlobal: "GLOBAL", opStackGlobal: "STACK_GLOBAL", opNewObj: "NEWOBJ", opNewObjEx: "NEWOBJ_EX", opReduce: "REDUCE", opBuild: "BUILD",
	opBinPersID: "BINPERSID", opBinPut: "BINPUT", opLongBinPut: "LONG_BINPUT", opBinGet: "BINGET", opLongBinGet: "LONG_BINGET",
	opMemoize: "MEMOIZE",

	'I': "INT", 'L': "LONG", 'F': "FLOAT", 'S': "STRING", 'T': "BINSTRING", 'U': "SHORT_BINSTRING", 'V': "UNICODE",
	'p': "PUT", 'g': "GET", '2': "DUP", 'i': "INST", 'o': "OBJ", 'P': "PERSID",
	0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

func (op opcode) String() string {
	if name, ok := opcodeNames[op]; ok {
		return name
	}
	return fmt.Sprintf("%#x", byte(op))
}

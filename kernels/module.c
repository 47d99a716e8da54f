/* The extension module marey._kernels: calls compiled kernels from Python.

   build.py emits the kernels as object code, and the table of their names, types and entry points as table.h. An entry
   takes its arguments and leaves its results in slots of eight bytes: a number is one slot; an array is seven or more,
   in the order of Numba's array structure (memory block, parent, number of items, size of an item, data, shape,
   strides); a tuple is the slots of its items.

   Types are written as in the table: d, l, b for float, int and bool; r or w, then a type character and the number of
   axes, for an array that is read or written; ( and the number of items, then the items, for a tuple.

   Only the limited API is used, so one library serves every Python from 3.11 on. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union {
    double real;
    int64_t integer;
    void *pointer;
} Slot;

typedef int32_t (*Entry)(const Slot *arguments, Slot *results);

typedef struct {
    PyObject **type;
    const char *message;
} Failure;

typedef struct {
    const char *name;
    const char *argument_names; /* separated by spaces */
    const char *argument_types;
    const char *result_type; /* empty for none */
    Entry entry;
    const Failure *failures; /* what the statuses from 1 on mean */
} Kernel;

#include "table.h" /* KERNELS, N_KERNELS, MAX_SLOTS, MAX_ARRAYS, SOURCES, BUILT_WITH */

#ifdef MAREY_NEEDS_AVX2
#include <cpuid.h>
#endif


/* Memory of arrays that kernels create: these functions of Numba's runtime are called by compiled code. */

typedef struct {
    size_t references;
    void (*destroy)(void *data, size_t size, void *info);
    void *info;
    void *data;
    size_t size;
    void *allocator;
} Block;

static int64_t live_blocks = 0;

Block *NRT_MemInfo_alloc_aligned(size_t size, unsigned align)
{
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (size > SIZE_MAX - sizeof(Block) - align)
        return NULL;
    Block *block = malloc(sizeof(Block) + size + align);
    if (block == NULL)
        return NULL;
    uintptr_t first = (uintptr_t)(block + 1);
    block->references = 1;
    block->destroy = NULL;
    block->info = NULL;
    block->data = (void *)((first + align - 1) / align * align);
    block->size = size;
    block->allocator = NULL;
    __atomic_add_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    return block;
}

Block *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned align)
{
    return NRT_MemInfo_alloc_aligned(size, align);
}

void NRT_MemInfo_call_dtor(Block *block)
{
    if (block->destroy != NULL)
        block->destroy(block->data, block->size, block->info);
    free(block);
    __atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
}

static void release_block(Block *block)
{
    if (block != NULL && __atomic_sub_fetch(&block->references, 1, __ATOMIC_ACQ_REL) == 0)
        NRT_MemInfo_call_dtor(block);
}


/* Arguments */

typedef struct {
    const Kernel *kernel;
    int argument; /* position, for messages */
    int n_slots;
    int n_arrays;
    Slot slots[MAX_SLOTS];
    PyObject *arrays[MAX_ARRAYS]; /* converted arguments, held during the call */
} Call;

static PyObject *compiled = NULL; /* the module marey.compiled */

static int type_number(char type)
{
    switch (type) {
    case 'd': return NPY_FLOAT64;
    case 'f': return NPY_FLOAT32;
    case 'l': return NPY_INT64;
    case 'i': return NPY_INT32;
    case 'c': return NPY_INT8;
    case 'C': return NPY_UINT8;
    case 'H': return NPY_UINT16;
    default: return NPY_BOOL;
    }
}

static const char *type_name(char type)
{
    switch (type) {
    case 'd': return "float64";
    case 'f': return "float32";
    case 'l': return "int64";
    case 'i': return "int32";
    case 'c': return "int8";
    case 'C': return "uint8";
    case 'H': return "uint16";
    default: return "bool";
    }
}

/* "kernel: argument" */
static PyObject *describe_argument(const Call *call)
{
    const char *name = call->kernel->argument_names;
    for (int i = 0; i < call->argument; i++)
        name = strchr(name, ' ') + 1;
    const char *end = strchr(name, ' ');
    int length = (int)(end == NULL ? strlen(name) : (size_t)(end - name));
    PyObject *text = PyUnicode_FromStringAndSize(name, length);
    PyObject *whole = text == NULL ? NULL : PyUnicode_FromFormat("%s: %U", call->kernel->name, text);
    Py_XDECREF(text);
    return whole;
}

static void refuse(const Call *call, const char *expected, PyObject *got)
{
    PyObject *where = describe_argument(call);
    if (where == NULL)
        return;
    PyObject *type = PyType_GetName(Py_TYPE(got));
    if (type != NULL)
        PyErr_Format(PyExc_TypeError, "%U: expected %s, got %U", where, expected, type);
    Py_XDECREF(type);
    Py_DECREF(where);
}

static int is_array_of(PyObject *value, int type, int ndim, int flags)
{
    if (!PyArray_Check(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_NDIM(array) != ndim || !PyArray_CHKFLAGS(array, flags))
        return 0;
    int number = PyArray_TYPE(array);
    return number == type || (number != NPY_BOOL && type != NPY_BOOL && PyArray_EquivTypenums(number, type));
}

static int take_array(Call *call, PyObject *value, const char *code)
{
    int type = type_number(code[1]), ndim = code[2] - '0', is_written = code[0] == 'w';
    int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (is_written ? NPY_ARRAY_WRITEABLE : 0);
    if (!is_array_of(value, type, ndim, flags)) {
        if (is_written) {
            char expected[64];
            snprintf(expected, sizeof expected, "a writable C-contiguous %s array with %d axes", type_name(code[1]), ndim);
            refuse(call, expected, value);
            return -1;
        }
        PyObject *where = describe_argument(call);
        if (where == NULL)
            return -1;
        value = PyObject_CallMethod(compiled, "convert_argument", "OsiO", value, type_name(code[1]), ndim, where);
        Py_DECREF(where);
        if (value == NULL)
            return -1;
        call->arrays[call->n_arrays++] = value;
        if (!is_array_of(value, type, ndim, flags)) {
            refuse(call, type_name(code[1]), value);
            return -1;
        }
    }
    PyArrayObject *array = (PyArrayObject *)value;
    Slot *slot = call->slots + call->n_slots;
    npy_intp size = 1, step = PyArray_ITEMSIZE(array);
    slot[0].pointer = NULL;
    slot[1].pointer = NULL;
    slot[3].integer = step;
    slot[4].pointer = PyArray_DATA(array);
    for (int i = ndim - 1; i >= 0; i--) {
        npy_intp n = PyArray_DIM(array, i);
        slot[5 + i].integer = n;
        slot[5 + ndim + i].integer = step;
        step *= n;
        size *= n;
    }
    slot[2].integer = size;
    call->n_slots += 5 + 2 * ndim;
    return 0;
}

/* Put a value into slots. Return a pointer to the type code that follows its own, or NULL after an error. */
static const char *take(Call *call, PyObject *value, const char *code)
{
    Slot *slot = call->slots + call->n_slots;
    switch (*code) {
    case 'd':
        slot->real = PyFloat_AsDouble(value);
        if (slot->real == -1.0 && PyErr_Occurred())
            break;
        call->n_slots++;
        return code + 1;
    case 'l':
        slot->integer = PyLong_AsLongLong(value);
        if (slot->integer == -1 && PyErr_Occurred())
            break;
        call->n_slots++;
        return code + 1;
    case 'b':
        slot->integer = PyObject_IsTrue(value);
        if (slot->integer < 0)
            return NULL;
        call->n_slots++;
        return code + 1;
    case '(': {
        int n = code[1] - '0';
        code += 2;
        if (!PyTuple_Check(value) || PyTuple_Size(value) != n) {
            char expected[32];
            snprintf(expected, sizeof expected, "a tuple of %d", n);
            refuse(call, expected, value);
            return NULL;
        }
        for (int i = 0; i < n && code != NULL; i++)
            code = take(call, PyTuple_GetItem(value, i), code);
        return code;
    }
    default:
        return take_array(call, value, code) < 0 ? NULL : code + 3;
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        refuse(call, *code == 'd' ? "a number" : "a whole number", value);
    }
    return NULL;
}


/* Results */

static PyObject *copy_array(const Slot *slot, const char *code)
{
    int ndim = code[2] - '0';
    npy_intp shape[8];
    for (int i = 0; i < ndim; i++)
        shape[i] = (npy_intp)slot[5 + i].integer;
    PyObject *array = PyArray_SimpleNew(ndim, shape, type_number(code[1]));
    if (array != NULL)
        memcpy(PyArray_DATA((PyArrayObject *)array), slot[4].pointer, (size_t)(slot[2].integer * slot[3].integer));
    return array;
}

/* Make a Python value from the slots that begin at `slot`, and move both pointers past it. Memory blocks are released
   even after errors. */
static PyObject *give(const Slot **slot, const char **code)
{
    const Slot *from = *slot;
    const char *type = *code;
    *slot += 1;
    *code += 1;
    switch (*type) {
    case 'd': return PyFloat_FromDouble(from->real);
    case 'l': return PyLong_FromLongLong(from->integer);
    case 'b': return PyBool_FromLong((long)from->integer);
    case '(': {
        int n = type[1] - '0';
        *slot = from;
        *code = type + 2;
        PyObject *whole = PyTuple_New(n);
        for (int i = 0; i < n; i++) {
            PyObject *item = give(slot, code);
            if (item == NULL)
                Py_CLEAR(whole);
            else if (whole != NULL)
                PyTuple_SetItem(whole, i, item);
            else
                Py_DECREF(item);
        }
        return whole;
    }
    default: {
        PyObject *array = copy_array(from, type);
        release_block(from[0].pointer);
        *slot = from + 5 + 2 * (type[2] - '0');
        *code = type + 3;
        return array;
    }
    }
}


/* Calls */

static PyObject *call_kernel(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    Call call;
    Slot results[MAX_SLOTS];
    PyObject *result = NULL;
    call.kernel = PyCapsule_GetPointer(self, NULL);
    if (call.kernel == NULL)
        return NULL;
    call.n_slots = call.n_arrays = 0;
    const char *code = call.kernel->argument_types;
    Py_ssize_t i = 0;
    for (; i < n && code != NULL && *code; i++) {
        call.argument = (int)i;
        code = take(&call, arguments[i], code);
    }
    if (code != NULL && (i < n || *code))
        PyErr_Format(PyExc_TypeError, "%s: wrong number of arguments: %zd", call.kernel->name, n);
    else if (code != NULL) {
        int32_t status;
        Py_BEGIN_ALLOW_THREADS
        status = call.kernel->entry(call.slots, results);
        Py_END_ALLOW_THREADS
        if (status > 0)
            PyErr_SetString(*call.kernel->failures[status - 1].type, call.kernel->failures[status - 1].message);
        else if (status != 0)
            PyErr_Format(PyExc_SystemError, "%s: unknown status %d", call.kernel->name, (int)status);
        else if (*call.kernel->result_type == 0)
            result = Py_NewRef(Py_None);
        else {
            const Slot *slot = results;
            code = call.kernel->result_type;
            result = give(&slot, &code);
        }
    }
    while (call.n_arrays > 0)
        Py_DECREF(call.arrays[--call.n_arrays]);
    return result;
}

static PyObject *count_live_blocks(PyObject *self, PyObject *nothing)
{
    (void)self;
    (void)nothing;
    return PyLong_FromLongLong(__atomic_load_n(&live_blocks, __ATOMIC_RELAXED));
}

static PyMethodDef kernel_methods[N_KERNELS];

static PyMethodDef module_methods[] = {
    {"count_live_blocks", count_live_blocks, METH_NOARGS, "Arrays made by kernels that are still in memory."},
    {NULL, NULL, 0, NULL},
};

/* Return whether the processor and the operating system support the instructions of x86-64-v3. */
static int can_run(void)
{
#ifdef MAREY_NEEDS_AVX2
    unsigned a, b, c, d, saved;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) || !(c & bit_OSXSAVE))
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2) || !(b & bit_BMI) || !(b & bit_BMI2))
        return 0;
    __asm__("xgetbv" : "=a"(saved) : "c"(0) : "edx");
    return (saved & 6) == 6;
#else
    return 1;
#endif
}

static int fill_module(PyObject *module)
{
    PyObject *functions = PyDict_New();
    compiled = PyImport_ImportModule("marey.compiled");
    if (functions == NULL || compiled == NULL)
        return -1;
    for (int i = 0; i < N_KERNELS; i++) {
        const char *dot = strrchr(KERNELS[i].name, '.');
        PyMethodDef *method = &kernel_methods[i];
        method->ml_name = dot + 1;
        method->ml_meth = (PyCFunction)(void (*)(void))call_kernel;
        method->ml_flags = METH_FASTCALL;
        PyObject *self = PyCapsule_New((void *)&KERNELS[i], NULL, NULL);
        PyObject *function = self == NULL ? NULL : PyCFunction_New(method, self);
        Py_XDECREF(self);
        if (function == NULL || PyDict_SetItemString(functions, KERNELS[i].name, function) < 0)
            return -1;
        Py_DECREF(function);
    }
    int failed = PyModule_AddObjectRef(module, "functions", functions) < 0
        || PyModule_AddStringConstant(module, "sources", SOURCES) < 0
        || PyModule_AddStringConstant(module, "built_with", BUILT_WITH) < 0;
    Py_DECREF(functions);
    return failed ? -1 : 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "marey._kernels", "Compiled kernels.", -1, module_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    if (!can_run()) {
        PyErr_SetString(PyExc_ImportError, "this processor lacks instructions (AVX2) that the library was built for");
        return NULL;
    }
    import_array();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && fill_module(module) < 0)
        Py_CLEAR(module);
    return module;
}
